//! Messages to and from a gRPC service within the process, in gRPC's frames: a flag, four bytes of length, the message.

use std::pin::Pin;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use futures_util::FutureExt;
use http::{HeaderMap, HeaderValue, Method, header::CONTENT_TYPE, request::Parts};
use http_body::Body as _;
use http_body_util::{BodyExt, Full};
use prost::Message;
use prost_reflect::{DynamicMessage, MessageDescriptor};
use tonic::{Code, Status, body::Body};
use tower::Service;

use super::fixed::Row;
use crate::faces::{
    http::{pieces::PIECE, route::Http},
    transport::grpc_frame::{self, HEAD},
};

/// What a service says.
pub(super) struct Responses {
    body: Pin<Box<Body>>,
    read: BytesMut,
    /// How they end, where that was seen while messages before it were still to be answered.
    end: Option<Result<(), Status>>,
}

/// A message as the body of a request.
pub(super) fn body(message: &DynamicMessage) -> Body {
    Body::new(Full::new(frame(message)))
}

pub(super) fn frame(message: &impl Message) -> Bytes {
    let length = message.encoded_len();
    let mut frame = BytesMut::with_capacity(HEAD + length);
    frame.put_u8(0);
    frame.put_u32(u32::try_from(length).expect("requests are bounded far below 4 GiB"));
    message.encode(&mut frame).expect("there is room");
    frame.freeze()
}

/// Calls a service within the process, with the identity and context of these parts.
pub(super) async fn call(http: Http, row: &Row, parts: &Parts, body: Body) -> Result<Responses, Status> {
    let mut request = http::Request::new(body);
    *request.method_mut() = Method::POST;
    *request.version_mut() = http::Version::HTTP_2;
    let (service, method) = row.rpc;
    let path = format!("/{service}/{method}");
    *request.uri_mut() = path.try_into().expect("names of methods are paths");
    *request.extensions_mut() = parts.extensions.clone();
    let headers = request.headers_mut();
    for (name, value) in &parts.headers {
        if name.as_str().starts_with("x-toolwire-") {
            headers.append(name, value.clone());
        }
    }
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    headers.insert("te", HeaderValue::from_static("trailers"));
    let mut routes = http.grpc;
    let Ok(response) = routes.call(request).await;
    check_status(response.headers())?;
    Ok(Responses { body: Box::pin(response.into_body()), read: BytesMut::new(), end: None })
}

impl Responses {
    /// The one response of an RPC that has one, encoded.
    pub(super) async fn one(mut self) -> Result<Bytes, Status> {
        let bytes = self.next().await?.ok_or_else(|| Status::internal("no response"))?;
        // The status stands behind it.
        while self.next().await?.is_some() {}
        Ok(bytes)
    }

    /// The next message and those that are there too, encoded, until there is enough for a piece; none when all has
    /// been said.
    pub(super) async fn some(&mut self) -> Result<Option<Vec<Bytes>>, Status> {
        let Some(first) = self.next().await? else { return Ok(None) };
        let (mut bytes, mut some) = (first.len(), vec![first]);
        while bytes < PIECE {
            match self.next().now_or_never() {
                None => break,
                Some(Ok(Some(message))) => {
                    bytes += message.len();
                    some.push(message);
                }
                Some(end) => {
                    self.end = Some(end.map(drop));
                    break;
                }
            }
        }
        Ok(Some(some))
    }

    /// The next message, encoded; none when all has been said.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, Status> {
        if let Some(end) = self.end.take() {
            return end.map(|()| None);
        }
        loop {
            if let Some(message) = self.whole() {
                return Ok(Some(message));
            }
            if self.body.is_end_stream() {
                return Ok(None);
            }
            let Some(frame) = self.body.frame().await else { return Ok(None) };
            match frame?.into_data() {
                Ok(data) => self.read.extend_from_slice(&data),
                Err(frame) => {
                    if let Some(trailers) = frame.trailers_ref() {
                        check_status(trailers)?;
                    }
                }
            }
        }
    }

    /// The first message that has been read whole.
    fn whole(&mut self) -> Option<Bytes> {
        // Compression is opt-in, so the message is not compressed.
        let (_flag, length) = grpc_frame::head(&self.read)?;
        let end = HEAD + length;
        if self.read.len() < end {
            return None;
        }
        let mut message = self.read.split_to(end);
        message.advance(HEAD);
        Some(message.freeze())
    }
}

/// The status in headers or trailers, unless all is well.
fn check_status(headers: &HeaderMap) -> Result<(), Status> {
    match Status::from_header_map(headers) {
        Some(status) if status.code() != Code::Ok => Err(status),
        _ => Ok(()),
    }
}

/// A message of a type that is known at run time only.
pub(super) fn decode(output: MessageDescriptor, bytes: Bytes) -> Result<DynamicMessage, Status> {
    DynamicMessage::decode(output, bytes).map_err(|error| Status::internal(format!("unreadable: {error}")))
}
