//! Requests of reflection that cannot be read end their stream with INVALID_ARGUMENT: tonic's service ends it with OK
//! there, as if its caller had asked nothing.
//!
//! Messages are looked at on their way to the service; where one cannot be read the requests end, and so do the answers.
//! Not here: compressed messages, which the service does not take.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, ready},
};

use bytes::{Buf, Bytes, BytesMut};
use http::{HeaderMap, Response};
use http_body::{Body as HttpBody, Frame, SizeHint};
use prost::Message;
use tonic::{Code, Status, body::Body};
use tonic_reflection::pb::v1::ServerReflectionRequest;

use crate::contract::status;

/// A flag and four bytes of length.
const HEAD: usize = 5;
/// The longest request: a name and a host.
const LONGEST: usize = 64 * 1024;

/// Whether a request was unreadable, as far as the requests have come.
#[derive(Clone, Debug, Default)]
pub(super) struct Unreadable(Arc<AtomicBool>);

impl Unreadable {
    /// The requests, up to the first that is unreadable.
    pub(super) fn watch(&self, requests: Body) -> Body {
        Body::new(Requests { inner: requests, read: BytesMut::new(), unreadable: self.clone() })
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
    /// Whether every message that is whole can be read. Both versions of reflection have the same request.
    fn can_be_read(&mut self) -> bool {
        while let Some(mut head) = self.read.get(..HEAD) {
            let (flag, length) = (head.get_u8(), head.get_u32() as usize);
            if flag != 0 || length > LONGEST {
                return false;
            }
            let Some(message) = self.read.get(HEAD..HEAD + length) else { return true };
            if ServerReflectionRequest::decode(message).is_err() {
                return false;
            }
            self.read.advance(HEAD + length);
        }
        true
    }

    fn stop(&self) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        self.unreadable.0.store(true, Ordering::Release);
        Poll::Ready(None)
    }
}

impl HttpBody for Requests {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let frame = ready!(Pin::new(&mut self.inner).poll_frame(cx));
        match &frame {
            Some(Ok(frame)) => {
                self.read.extend_from_slice(frame.data_ref().unwrap_or(&Bytes::new()));
                if !self.can_be_read() {
                    return self.stop();
                }
            }
            None if !self.read.is_empty() => return self.stop(),
            _ => {}
        }
        Poll::Ready(frame)
    }
}

struct Answers {
    inner: Body,
    unreadable: Unreadable,
}

impl Answers {
    fn ended(&self, trailers: HeaderMap) -> HeaderMap {
        if !self.unreadable.0.load(Ordering::Acquire) {
            return trailers;
        }
        let what = "a request of reflection cannot be read: it is a ServerReflectionRequest in gRPC's frame, uncompressed";
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

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let frame = ready!(Pin::new(&mut self.inner).poll_frame(cx));
        Poll::Ready(frame.map(|frame| {
            frame.map(|frame| match frame.into_trailers() {
                Ok(trailers) => Frame::trailers(self.ended(trailers)),
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
