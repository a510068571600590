//! One gRPC request and its answer, as close to HTTP/2 as can be.

use bytes::{Buf, Bytes, BytesMut};
use h2::{RecvStream, client::SendRequest};
use http::{HeaderMap, HeaderValue, Request, header};

use crate::Result;

/// A connection, and the credentials that its requests bear.
#[derive(Clone, Debug)]
pub struct Connection {
    sender: SendRequest<Bytes>,
    token: Option<HeaderValue>,
}

/// What comes back. Dropped before its end, it resets the stream.
#[derive(Debug)]
pub struct Answer {
    headers: HeaderMap,
    body: RecvStream,
    unread: BytesMut,
}

impl Connection {
    /// A connection whose requests bear this token.
    pub fn new(sender: SendRequest<Bytes>, token: Option<HeaderValue>) -> Self {
        Self { sender, token }
    }

    /// Makes a request and waits for the answer's headers. The request is in its frame; the time is as `grpc-timeout`
    /// has it.
    pub async fn open(&self, path: &str, request: Bytes, timeout: &str) -> Result<Answer> {
        let mut head = Request::post(format!("http://localhost{path}"))
            .header(header::CONTENT_TYPE, "application/grpc")
            .header(header::TE, "trailers")
            .header("grpc-timeout", timeout)
            .header(header::USER_AGENT, "toolwire-load");
        if let Some(token) = &self.token {
            head = head.header(header::AUTHORIZATION, token);
        }
        let mut sender = self.sender.clone().ready().await?;
        let (response, mut body) = sender.send_request(head.body(())?, false)?;
        body.send_data(request, true)?;
        let (head, body) = response.await?.into_parts();
        Ok(Answer { headers: head.headers, body, unread: BytesMut::new() })
    }
}

impl Answer {
    /// The next bytes, as they come.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>> {
        let Some(chunk) = self.body.data().await else { return Ok(None) };
        let chunk = chunk?;
        self.body.flow_control().release_capacity(chunk.len())?;
        Ok(Some(chunk))
    }

    /// The next message, without its frame.
    pub async fn message(&mut self) -> Result<Option<Bytes>> {
        loop {
            if let Some(length) = self.unread.get(1..5) {
                let length = u32::from_be_bytes(length.try_into()?) as usize;
                if self.unread.len() >= 5 + length {
                    self.unread.advance(5);
                    return Ok(Some(self.unread.split_to(length).freeze()));
                }
            }
            match self.chunk().await? {
                Some(chunk) => self.unread.extend_from_slice(&chunk),
                None => return Ok(None),
            }
        }
    }

    /// When to come back, in milliseconds, if the server says so.
    pub fn pushback(&self) -> Option<&HeaderValue> {
        self.headers.get("grpc-retry-pushback-ms")
    }

    /// Reads to the end; the status, as its number.
    pub async fn status(mut self) -> Result<u32> {
        while self.chunk().await?.is_some() {}
        let trailers = self.body.trailers().await?.unwrap_or_default();
        let status = trailers.get("grpc-status").or_else(|| self.headers.get("grpc-status"));
        Ok(status.ok_or("no grpc-status")?.to_str()?.parse()?)
    }

    /// Reads to the end; an error unless that is OK.
    pub async fn ok(self) -> Result<()> {
        let message = self.headers.get("grpc-message").cloned();
        match self.status().await? {
            0 => Ok(()),
            status => Err(format!("answered with status {status}: {message:?}").into()),
        }
    }
}
