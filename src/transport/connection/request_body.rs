//! The body of a request. It ends only if the peer has ended it, and maps read errors to statuses.
//!
//! hyper ends a body that is reset with `NO_ERROR` as if it were complete, and tonic does so if the status is
//! CANCELLED: a partial upload would be stored. Other protocol errors of a peer tonic reports as failures of this
//! server.
//!
//! Over HTTP/1 the unread rest of a body would be taken for the next request: hyper closes the connection,
//! and the response must have said so. Hence it is recorded for the connection whether its body was read to the end.

use std::{
    error::Error,
    io, iter,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use tonic::{Code, Status};

use super::abandoned_body::AbandonedBody;
use crate::{polled_frame::PolledFrame, requests::Requests};
use toolwire_contract::status;

/// The body of a request as its peer sends it.
#[derive(Debug)]
pub(super) struct RequestBody {
    /// `None` once it is dropped.
    incoming: Option<Incoming>,
    /// HTTP/2 states the end separately from the data; HTTP/1 reports an early end as an error.
    is_http2: bool,
    /// The requests of an HTTP/1 connection, while this body is not read to its end.
    unread_on: Option<Arc<Requests>>,
    /// HTTP/2: where the body goes if it is dropped before its end.
    abandoned: Option<AbandonedBody>,
}

impl RequestBody {
    /// The body of an HTTP/2 request.
    pub(super) fn http2(incoming: Incoming, abandoned: Option<AbandonedBody>) -> Self {
        Self { incoming: Some(incoming), is_http2: true, unread_on: None, abandoned }
    }

    /// The body of an HTTP/1 request, and the requests of its connection.
    pub(super) fn http1(incoming: Incoming, requests: Option<&Arc<Requests>>) -> Self {
        let unread_on = requests.filter(|_| !incoming.is_end_stream()).cloned();
        if let Some(requests) = &unread_on {
            requests.body_begins();
        }
        Self { incoming: Some(incoming), is_http2: false, unread_on, abandoned: None }
    }

    fn record_end(&mut self) {
        if let Some(requests) = self.unread_on.take() {
            requests.body_is_read();
        }
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        let Some(incoming) = self.incoming.take() else { return };
        if let Some(requests) = self.unread_on.take() {
            requests.leave_body(incoming);
        } else if let Some(abandoned) = self.abandoned.take()
            && !incoming.is_end_stream()
        {
            abandoned.keep(incoming);
        }
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> PolledFrame<Self> {
        let Some(incoming) = &mut self.incoming else { return Poll::Ready(None) };
        let frame: Option<Result<Frame<Bytes>, hyper::Error>> =
            ready!(Pin::new(&mut *incoming).poll_frame(cx));
        let is_end_stream = incoming.is_end_stream();
        if frame.is_none() || is_end_stream {
            self.record_end();
        }
        Poll::Ready(match frame {
            None if self.is_http2 && !is_end_stream => Some(Err(request_aborted())),
            frame => frame.map(|frame| frame.map_err(status_of)),
        })
    }

    fn is_end_stream(&self) -> bool {
        self.incoming.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.incoming.as_ref().map_or_else(SizeHint::default, Body::size_hint)
    }
}

fn status_of(error: hyper::Error) -> Status {
    let cause = io_error(&error).map(|cause| (cause.kind(), cause.to_string()));
    let status = Status::from_error(Box::new(error));
    match (cause, status.code()) {
        // HTTP/1: an invalid chunk, or the peer closed the connection before the end of the body.
        (
            Some((
                io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof,
                what,
            )),
            _,
        ) => malformed(&what),
        // HTTP/2: the stream violated the protocol.
        (None, Code::Internal) => malformed(status.message()),
        (_, Code::Internal | Code::Unknown | Code::Cancelled) => request_aborted(),
        _ => status,
    }
}

/// The peer reset the stream or the connection was lost.
fn request_aborted() -> Status {
    Status::aborted("the request was broken off before its end")
}

fn malformed(what: &str) -> Status {
    let message = format!("the body of the request cannot be read: {what}");
    status::plain(Code::InvalidArgument, "MALFORMED_REQUEST", &message)
}

fn io_error<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a io::Error> {
    iter::successors(Some(error), |&cause| cause.source()).find_map(<dyn Error>::downcast_ref)
}
