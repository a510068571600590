//! Counts requests as under way until their answers have ended, and asks clients of HTTP/1 to come back on another
//! connection once this one is to go.

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
    requests::{Requests, UnderWay},
};
use toolwire_base::middleware::Middleware;

/// Counts requests where their connection wants to know.
#[derive(Debug, Clone, Copy)]
pub(in crate::faces) struct CountRequests;

impl<S, ReqB, ResB> Middleware<Request<ReqB>, S> for CountRequests
where
    S: tower::Service<Request<ReqB>, Response = Response<ResB>, Error = Infallible>,
{
    type Future = ResponseFuture<S::Future>;

    fn call(&self, request: Request<ReqB>, inner: &mut S) -> Self::Future {
        let requests = request.extensions().get::<Peer>().and_then(|peer| peer.requests.clone());
        let is_http1 = request.version() <= Version::HTTP_11;
        ResponseFuture { under_way: requests.map(Requests::begin), is_http1, inner: inner.call(request) }
    }
}

pin_project! {
    /// The answer, whose body takes the count over.
    #[derive(Debug)]
    pub(in crate::faces) struct ResponseFuture<F> {
        #[pin]
        inner: F,
        under_way: Option<UnderWay>,
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
        let under_way = this.under_way.take();
        if *this.is_http1 && under_way.as_ref().is_some_and(UnderWay::is_leaving) {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        Poll::Ready(Ok(response.map(|inner| Body { inner, under_way })))
    }
}

pin_project! {
    /// The body below; the request ends with it.
    #[derive(Debug)]
    pub(in crate::faces) struct Body<B> {
        #[pin]
        inner: B,
        under_way: Option<UnderWay>,
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
