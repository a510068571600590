//! Translates refusals of the layers below into problems.
//!
//! They report a status as gRPC does: in the headers of a response without a body, or in the trailers of one that has
//! begun. The former becomes a problem. The latter becomes the last event of a stream of events; any other response is
//! aborted, so that the part that was sent is not taken for the whole.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use axum::{body::Body as AxumBody, response::IntoResponse};
use bytes::Bytes;
use http::{HeaderMap, Response, header::CONTENT_TYPE};
use http_body::{Body as HttpBody, Frame, SizeHint};
use pin_project_lite::pin_project;
use tonic::{Code, Status};

use super::{answer::Answer, problem::Problem};
use toolwire_transport::PolledFrame;

/// Makes the last event of a stream that a status ends. In the extensions of a response whose events have a form of
/// their own.
#[derive(Clone, Copy, Debug)]
pub struct LastWord(pub fn(Status) -> Bytes);

/// The response, or the problem of the status that a layer below reports.
pub(super) fn to_problem<B>(response: Response<B>) -> Answer
where
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: std::error::Error + Send + Sync,
{
    if let Some(status) = Status::from_header_map(response.headers()).filter(|it| it.code() != Code::Ok) {
        return Problem::from(status).into_response();
    }
    let own = response.extensions().get::<LastWord>().copied();
    let last_word = own.or_else(|| is_events(response.headers()).then_some(LastWord(error_event)));
    response.map(|inner| AxumBody::new(Body { inner: Some(inner), last_word }))
}

fn is_events(headers: &HeaderMap) -> bool {
    headers.get(CONTENT_TYPE).is_some_and(|value| value.as_bytes().starts_with(b"text/event-stream"))
}

fn error_event(status: Status) -> Bytes {
    let problem = Problem::from(status).to_json();
    format!("event: error\ndata: {problem}\n\n").into()
}

pin_project! {
    /// The inner body; if a status ends it, with its last word in place of the trailers.
    struct Body<B> {
        #[pin]
        inner: Option<B>,
        last_word: Option<LastWord>,
    }
}

impl<B> HttpBody for Body<B>
where
    B: HttpBody<Data = Bytes>,
    B::Error: std::error::Error + Send + Sync + 'static,
{
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> PolledFrame<Self> {
        let mut this = self.project();
        let Some(inner) = this.inner.as_mut().as_pin_mut() else { return Poll::Ready(None) };
        let Some(frame) = ready!(inner.poll_frame(cx)) else { return Poll::Ready(None) };
        let frame = frame.map_err(io::Error::other)?;
        let refused = frame.trailers_ref().and_then(Status::from_header_map);
        let Some(status) = refused.filter(|it| it.code() != Code::Ok) else {
            return Poll::Ready(Some(Ok(frame)));
        };
        this.inner.set(None);
        Poll::Ready(Some(match this.last_word {
            Some(LastWord(last_event)) => Ok(Frame::data(last_event(status))),
            None => Err(io::Error::other(status)),
        }))
    }

    fn is_end_stream(&self) -> bool {
        self.inner.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.as_ref().map_or_else(|| SizeHint::with_exact(0), HttpBody::size_hint)
    }
}
