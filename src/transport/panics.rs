//! Converts a panic below to INTERNAL on its stream; the connection and its other streams continue.
//!
//! The panic's message is neither sent nor logged here, since it may contain data; the process's panic hook handles it.

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
        ResponseFuture { inner: catch(|| inner.call(request)) }
    }
}

pin_project! {
    /// The response, or INTERNAL after a panic.
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
            && let Some(polled) = catch(|| inner.poll(cx))
        {
            return polled.map_ok(|response| response.map(|inner| Body { inner: Some(inner) }));
        }
        // After a panic the future is in an unknown state: it is dropped and never polled again. The drop may panic
        // too.
        catch(|| this.inner.set(None));
        Poll::Ready(Ok(refusal::response(internal())))
    }
}

pin_project! {
    /// The inner body; after a panic INTERNAL in trailers.
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
        if let Some(polled) = catch(|| inner.poll_frame(cx)) {
            return Poll::Ready(ready!(polled));
        }
        catch(|| this.inner.set(None));
        Poll::Ready(Some(Ok(Frame::trailers(refusal::trailers(&internal())))))
    }

    fn is_end_stream(&self) -> bool {
        self.inner.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        // Never an exact length: trailers may replace the rest.
        SizeHint::default()
    }
}

/// Runs `work`; `None` if it panicked.
fn catch<T>(work: impl FnOnce() -> T) -> Option<T> {
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
