//! Requests of reflection that cannot be read end their stream with `INVALID_ARGUMENT`. tonic's service would end it
//! with OK, as if nothing had been requested.
//!
//! Messages are looked at on their way to the service. Where one cannot be read the requests end, and so do the
//! answers. Not here: compressed messages, which the service does not take.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, ready},
};

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, Response};
use http_body::{Body as HttpBody, Frame, SizeHint};
use prost::Message;
use tonic::{Code, Status, body::Body};
use tonic_reflection::pb::v1::ServerReflectionRequest;

use crate::faces::transport::{
    PolledFrame,
    grpc_frame::{self, HEAD},
};
use toolwire_contract::status;

/// Maximum size of a request, which has a name and a host.
const MAX_MESSAGE: usize = 64 * 1024;

/// Whether any request so far was unreadable.
#[derive(Clone, Debug, Default)]
pub(super) struct Unreadable(Arc<AtomicBool>);

impl Unreadable {
    /// The requests, up to the first that is unreadable.
    pub(super) fn watch(&self, requests: Body) -> Body {
        Body::new(Requests { inner: requests, read: BytesMut::new(), unreadable: self.clone() })
    }

    fn note(&self) {
        self.0.store(true, Ordering::Release);
    }

    fn is_noted(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    /// The answers, whose end says whether one was.
    pub(super) fn end(self, answers: Response<Body>) -> Response<Body> {
        answers.map(|inner| Body::new(Answers { inner, unreadable: self }))
    }
}

struct Requests {
    inner: Body,
    /// What came of a message that is not whole yet.
    read: BytesMut,
    unreadable: Unreadable,
}

impl Requests {
    /// The messages that are whole and can be read. Both versions of reflection have the same request.
    fn readable(&mut self) -> Bytes {
        let mut end = 0;
        while let Some((flag, length)) = grpc_frame::head(&self.read[end..]) {
            let message = self.read.get(end + HEAD..end + HEAD + length);
            let is_readable = message.is_none_or(|it| ServerReflectionRequest::decode(it).is_ok());
            if flag != 0 || length > MAX_MESSAGE || !is_readable {
                self.unreadable.note();
                break;
            }
            if message.is_none() {
                break;
            }
            end += HEAD + length;
        }
        self.read.split_to(end).freeze()
    }
}

impl HttpBody for Requests {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> PolledFrame<Self> {
        loop {
            let readable = self.readable();
            if !readable.is_empty() {
                return Poll::Ready(Some(Ok(Frame::data(readable))));
            }
            if self.unreadable.is_noted() {
                return Poll::Ready(None);
            }
            match ready!(Pin::new(&mut self.inner).poll_frame(cx)) {
                Some(Ok(frame)) => {
                    self.read.extend_from_slice(frame.data_ref().unwrap_or(&Bytes::new()));
                }
                None if self.read.is_empty() => return Poll::Ready(None),
                None => self.unreadable.note(),
                error => return Poll::Ready(error),
            }
        }
    }
}

struct Answers {
    inner: Body,
    unreadable: Unreadable,
}

impl Answers {
    fn end(&self, trailers: HeaderMap) -> HeaderMap {
        if !self.unreadable.is_noted() {
            return trailers;
        }
        let what = "a request cannot be read: send a ServerReflectionRequest in gRPC's frame, uncompressed";
        let mut trailers = HeaderMap::new();
        status::plain(Code::InvalidArgument, "MALFORMED_REQUEST", what)
            .add_header(&mut trailers)
            .expect("a message of ours is a header value");
        trailers
    }
}

impl HttpBody for Answers {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> PolledFrame<Self> {
        let frame = ready!(Pin::new(&mut self.inner).poll_frame(cx));
        Poll::Ready(frame.map(|frame| {
            frame.map(|frame| match frame.into_trailers() {
                Ok(trailers) => Frame::trailers(self.end(trailers)),
                Err(data) => data,
            })
        }))
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
