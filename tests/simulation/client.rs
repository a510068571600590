//! A gRPC client without a timer of its own, over the simulated network: what it reports is what the server said.

use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use h2::{
    RecvStream, SendStream,
    client::{ResponseFuture, SendRequest, handshake},
};
use http::{HeaderMap, Request};
use prost::Message;
use turmoil::net::TcpStream;

use crate::{
    ledger::now,
    raw::frame,
    server::{HOST, PORT},
};

/// The connection broke.
#[derive(Debug)]
pub(crate) struct Broken;

/// One connection. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Client {
    sender: SendRequest<Bytes>,
    token: &'static str,
    /// When it was made.
    pub(crate) connected: Duration,
}

/// A message, or the number of a status.
pub(crate) type Reply<M> = Result<M, i32>;

impl Client {
    pub(crate) async fn connect(token: &'static str) -> Result<Self, Broken> {
        let connected = now();
        let stream = TcpStream::connect((HOST, PORT)).await.or(Err(Broken))?;
        let (sender, connection) = handshake(stream).await.or(Err(Broken))?;
        tokio::spawn(connection);
        Ok(Self { sender, token, connected })
    }

    /// Carries a unary call out. Dropped before its end, it resets the stream.
    pub(crate) async fn call<M: Message + Default>(
        &self,
        method: &str,
        timeout: Duration,
        message: &impl Message,
    ) -> Result<Reply<M>, Broken> {
        let request = Request::post(format!("http://server/toolwire.v1.ToolService/{method}"))
            .header("content-type", "application/grpc")
            .header("te", "trailers")
            .header("authorization", format!("Bearer {}", self.token))
            .header("grpc-timeout", format!("{}m", timeout.as_millis()));
        let mut sender = self.sender.clone().ready().await.or(Err(Broken))?;
        let (response, mut body) = sender.send_request(request.body(()).unwrap(), false).or(Err(Broken))?;
        body.send_data(frame(message), true).or(Err(Broken))?;
        end(response, body).await.or(Err(Broken))
    }
}

async fn end<M: Message + Default>(
    response: ResponseFuture,
    _request: SendStream<Bytes>,
) -> Result<Reply<M>, h2::Error> {
    let (head, mut body) = response.await?.into_parts();
    let mut bytes = read(&mut body).await?;
    let trailers = body.trailers().await?.unwrap_or_default();
    Ok(match status(&trailers).or_else(|| status(&head.headers)).expect("a status") {
        0 => {
            bytes.advance(5);
            Ok(M::decode(bytes).expect("the message of its method"))
        }
        other => Err(other),
    })
}

async fn read(body: &mut RecvStream) -> Result<BytesMut, h2::Error> {
    let mut bytes = BytesMut::new();
    while let Some(chunk) = body.data().await {
        let chunk = chunk?;
        body.flow_control().release_capacity(chunk.len())?;
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

fn status(headers: &HeaderMap) -> Option<i32> {
    headers.get("grpc-status")?.to_str().ok()?.parse().ok()
}
