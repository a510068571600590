//! A panic below becomes INTERNAL on its own stream; the connection and the other streams go on.
//!
//! It says nothing of the panic's message, which may hold anything; the process's panic hook sees to that.

use std::{
    convert::Infallible,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    task::{Context, Poll, ready},
};

use http::{Request, Response};
use http_body::{Body as HttpBody, Frame, SizeHint};
use pin_project_lite::pin_project;
use tonic::{Code, Status};

use super::{polled_frame::PolledFrame, refusal};
use toolwire_base::middleware::Middleware;
use toolwire_contract::status;

/// Catches panics of calls, their futures and their bodies.
#[derive(Debug, Clone, Copy)]
pub(super) struct CatchPanics;

impl<S, ReqB, ResB> Middleware<Request<ReqB>, S> for CatchPanics
where
    S: tower::Service<Request<ReqB>, Response = Response<ResB>, Error = Infallible>,
{
    type Future = ResponseFuture<S::Future>;

    fn call(&self, request: Request<ReqB>, inner: &mut S) -> Self::Future {
        ResponseFuture { inner: caught(|| inner.call(request)) }
    }
}

pin_project! {
    /// The answer, or INTERNAL once something panicked.
    #[derive(Debug)]
    pub(super) struct ResponseFuture<F> {
        #[pin]
        inner: Option<F>,
    }
}

impl<F, B> Future for ResponseFuture<F>
where
    F: Future<Output = Result<Response<B>, Infallible>>,
{
    type Output = Result<Response<Body<B>>, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        if let Some(inner) = this.inner.as_mut().as_pin_mut()
            && let Some(polled) = caught(|| inner.poll(cx))
        {
            return polled.map_ok(|response| response.map(|inner| Body { inner: Some(inner) }));
        }
        // What panicked is in no known state: it is dropped, never polled again.
        caught(|| this.inner.set(None));
        Poll::Ready(Ok(refusal::response(internal())))
    }
}

pin_project! {
    /// The body below; INTERNAL in trailers once it panicked; then nothing.
    #[derive(Debug)]
    pub(super) struct Body<B> {
        #[pin]
        inner: Option<B>,
    }
}

impl<B> Default for Body<B> {
    fn default() -> Self {
        Self { inner: None }
    }
}

impl<B: HttpBody> HttpBody for Body<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> PolledFrame<Self> {
        let mut this = self.project();
        let Some(inner) = this.inner.as_mut().as_pin_mut() else { return Poll::Ready(None) };
        if let Some(polled) = caught(|| inner.poll_frame(cx)) {
            return Poll::Ready(ready!(polled));
        }
        caught(|| this.inner.set(None));
        Poll::Ready(Some(Ok(Frame::trailers(refusal::trailers(&internal())))))
    }

    fn is_end_stream(&self) -> bool {
        self.inner.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        // Never the exact length: trailers may come instead of the rest.
        SizeHint::default()
    }
}

/// What `work` returns, or nothing if it panicked.
fn caught<T>(work: impl FnOnce() -> T) -> Option<T> {
    let result = catch_unwind(AssertUnwindSafe(work));
    if result.is_err() {
        tracing::error!("a request handler panicked");
    }
    result.ok()
}

fn internal() -> Status {
    status::plain(
        Code::Internal,
        "INTERNAL",
        "the server failed while it handled this call; it is not the caller's fault",
    )
}
