//! Counts the requests in flight on a connection until their responses have ended, and sends `Connection: close` to
//! HTTP/1 clients whose connection will be closed: during a drain, and where the body of the request is unread.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll, ready},
};

use http::{HeaderValue, Request, Response, Version, header::CONNECTION};
use http_body::{Body as HttpBody, SizeHint};
use pin_project_lite::pin_project;

use super::{
    peer::Peer,
    polled_frame::PolledFrame,
    requests::{RequestGuard, Requests},
};
use toolwire_base::middleware::Middleware;

/// Counts the requests of connections that track them.
#[derive(Debug, Clone, Copy)]
pub struct CountRequests;

impl<S, ReqB, ResB> Middleware<Request<ReqB>, S> for CountRequests
where
    S: tower::Service<Request<ReqB>, Response = Response<ResB>, Error = Infallible>,
{
    type Future = ResponseFuture<S::Future>;

    fn call(&self, request: Request<ReqB>, inner: &mut S) -> Self::Future {
        let requests = request.extensions().get::<Peer>().and_then(|peer| peer.requests.clone());
        let is_http1 = request.version() <= Version::HTTP_11;
        ResponseFuture { guard: requests.map(Requests::begin), is_http1, inner: inner.call(request) }
    }
}

pin_project! {
    /// The response, whose body takes over the guard.
    #[derive(Debug)]
    pub struct ResponseFuture<F> {
        #[pin]
        inner: F,
        guard: Option<RequestGuard>,
        is_http1: bool,
    }
}

impl<F, B> Future for ResponseFuture<F>
where
    F: Future<Output = Result<Response<B>, Infallible>>,
{
    type Output = Result<Response<Body<B>>, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let Ok(mut response) = ready!(this.inner.poll(cx));
        let guard = this.guard.take();
        let mut closes = |guard: &RequestGuard| guard.responds_early(cx) || guard.is_leaving();
        if *this.is_http1 && guard.as_ref().is_some_and(&mut closes) {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        Poll::Ready(Ok(response.map(|inner| Body { inner, guard })))
    }
}

pin_project! {
    /// The inner body; the request ends with it.
    #[derive(Debug)]
    pub struct Body<B> {
        #[pin]
        inner: B,
        guard: Option<RequestGuard>,
    }
}

impl<B: HttpBody> HttpBody for Body<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> PolledFrame<Self> {
        self.project().inner.poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
