//! The body of a request, which ends only where its peer has ended it, and the status where it cannot be read.
//!
//! hyper ends a body that is reset with `NO_ERROR` as if it was whole, and tonic one whose status is CANCELLED: half an
//! upload would be stored. What else a peer does wrong, tonic takes for a failure of this server.

use std::{
    error::Error,
    io, iter,
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use tonic::{Code, Status};

use crate::faces::transport::polled_frame::PolledFrame;
use toolwire_contract::status;

/// The body of a request as its peer sends it.
#[derive(Debug)]
pub(super) struct RequestBody {
    incoming: Incoming,
    /// Only there the end is stated apart from the bytes: HTTP/1 reports an early end by itself.
    is_http2: bool,
}

impl RequestBody {
    pub(super) fn new(incoming: Incoming, is_http2: bool) -> Self {
        Self { incoming, is_http2 }
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> PolledFrame<Self> {
        let frame: Option<Result<Frame<Bytes>, hyper::Error>> =
            ready!(Pin::new(&mut self.incoming).poll_frame(cx));
        Poll::Ready(match frame {
            None if self.is_http2 && !self.incoming.is_end_stream() => Some(Err(broken_off())),
            frame => frame.map(|frame| frame.map_err(status_of)),
        })
    }

    fn is_end_stream(&self) -> bool {
        self.incoming.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.incoming.size_hint()
    }
}

fn status_of(error: hyper::Error) -> Status {
    let cause = io_error(&error).map(|cause| (cause.kind(), cause.to_string()));
    let status = Status::from_error(Box::new(error));
    match (cause, status.code()) {
        // HTTP/1: what hyper read is no chunk, or the peer ended before the body did.
        (
            Some((
                io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof,
                what,
            )),
            _,
        ) => malformed(&what),
        // HTTP/2: the stream broke a rule of the protocol.
        (None, Code::Internal) => malformed(status.message()),
        (_, Code::Internal | Code::Unknown | Code::Cancelled) => broken_off(),
        _ => status,
    }
}

/// The peer reset the stream or the connection was lost.
fn broken_off() -> Status {
    Status::aborted("the request was broken off before its end")
}

fn malformed(what: &str) -> Status {
    let message = format!("the body of the request cannot be read: {what}");
    status::plain(Code::InvalidArgument, "MALFORMED_REQUEST", &message)
}

fn io_error<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a io::Error> {
    iter::successors(Some(error), |&cause| cause.source()).find_map(<dyn Error>::downcast_ref)
}
