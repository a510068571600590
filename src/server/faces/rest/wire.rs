//! A gRPC client for the services of this process. Messages travel in gRPC's frames: a flag, four bytes of length, the
//! message.

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

use crate::faces::{
    grpc::Routes,
    http::{chunks::PIECE, rpc_route::RpcRoute},
};
use toolwire_transport::grpc_frame::{self, HEAD};

/// The responses of one call, read message by message.
pub(super) struct Responses {
    body: Pin<Box<Body>>,
    /// Bytes that were read and are no complete message yet.
    buffer: BytesMut,
    /// The end of the stream, if [`next_batch`](Self::next_batch) reached it behind messages that it returned.
    end: Option<Result<(), Status>>,
}

/// The body of a request with one message.
pub(super) fn body(message: &DynamicMessage) -> Body {
    Body::new(Full::new(frame(message)))
}

pub(super) fn frame(message: &impl Message) -> Bytes {
    let length = message.encoded_len();
    let mut frame = BytesMut::with_capacity(HEAD + length);
    frame.put_u8(0);
    frame.put_u32(u32::try_from(length).expect("requests are bounded far below 4 GiB"));
    message.encode(&mut frame).expect("the capacity is the encoded length");
    frame.freeze()
}

/// Calls the RPC of a row on behalf of the request whose parts these are.
pub(super) async fn call(
    mut routes: Routes,
    row: &RpcRoute,
    parts: &Parts,
    body: Body,
) -> Result<Responses, Status> {
    let mut request = http::Request::new(body);
    *request.method_mut() = Method::POST;
    *request.version_mut() = http::Version::HTTP_2;
    let (service, method) = row.rpc;
    let path = format!("/{service}/{method}");
    *request.uri_mut() = path.try_into().expect("names of methods are paths");
    // They hold the user, the arrival and the rule: the service neither authenticates nor traces a second time.
    *request.extensions_mut() = parts.extensions.clone();
    // Only what is metadata of a call over gRPC too. The other headers are this face's own.
    let headers = request.headers_mut();
    for (name, value) in &parts.headers {
        if name.as_str().starts_with("x-toolwire-") {
            headers.append(name, value.clone());
        }
    }
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    headers.insert("te", HeaderValue::from_static("trailers"));
    let Ok(response) = routes.call(request).await;
    // A refusal without messages is trailers-only: its status is in the headers.
    check_status(response.headers())?;
    Ok(Responses { body: Box::pin(response.into_body()), buffer: BytesMut::new(), end: None })
}

impl Responses {
    /// The encoded response of a unary RPC.
    pub(super) async fn single(mut self) -> Result<Bytes, Status> {
        let bytes = self.next().await?.ok_or_else(|| Status::internal("no response"))?;
        // To the end: the trailers may still hold an error.
        while self.next().await?.is_some() {}
        Ok(bytes)
    }

    /// The next message, encoded, and those behind it that are ready, up to the size of a piece. `None` at the end.
    pub(super) async fn next_batch(&mut self) -> Result<Option<Vec<Bytes>>, Status> {
        let Some(first) = self.next().await? else { return Ok(None) };
        let (mut bytes, mut batch) = (first.len(), vec![first]);
        // Without waiting: a batch saves writes, and must not delay the messages that it has.
        while bytes < PIECE {
            match self.next().now_or_never() {
                None => break,
                Some(Ok(Some(message))) => {
                    bytes += message.len();
                    batch.push(message);
                }
                // Kept for the next call: the messages before the end go out first.
                Some(end) => {
                    self.end = Some(end.map(drop));
                    break;
                }
            }
        }
        Ok(Some(batch))
    }

    /// The next message, encoded. `None` at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, Status> {
        if let Some(end) = self.end.take() {
            return end.map(|()| None);
        }
        loop {
            if let Some(message) = self.take_message() {
                return Ok(Some(message));
            }
            if self.body.is_end_stream() {
                return Ok(None);
            }
            let Some(frame) = self.body.frame().await else { return Ok(None) };
            match frame?.into_data() {
                Ok(data) => self.buffer.extend_from_slice(&data),
                Err(frame) => {
                    if let Some(trailers) = frame.trailers_ref() {
                        check_status(trailers)?;
                    }
                }
            }
        }
    }

    /// Takes the first complete message out of the buffer.
    fn take_message(&mut self) -> Option<Bytes> {
        // Never compressed: the request accepts no encoding.
        let (_flag, length) = grpc_frame::head(&self.buffer)?;
        let end = HEAD + length;
        if self.buffer.len() < end {
            return None;
        }
        let mut message = self.buffer.split_to(end);
        message.advance(HEAD);
        Some(message.freeze())
    }
}

/// Fails with the status in headers or trailers, unless it is OK or absent.
fn check_status(headers: &HeaderMap) -> Result<(), Status> {
    match Status::from_header_map(headers) {
        Some(status) if status.code() != Code::Ok => Err(status),
        _ => Ok(()),
    }
}

/// Decodes a message whose type is known only at run time.
pub(super) fn decode(output: MessageDescriptor, bytes: Bytes) -> Result<DynamicMessage, Status> {
    DynamicMessage::decode(output, bytes).map_err(|error| Status::internal(format!("unreadable: {error}")))
}
