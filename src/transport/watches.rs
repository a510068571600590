//! Ends watches when their connection is drained, so that they do not keep it open until the forced end.
//!
//! A watch is a method with [`Lifetime::Uncapped`]. It ends with UNAVAILABLE, upon which its client watches again on
//! another connection. Other calls run to their end; a call that only waits can observe [`drain_signal`] and return
//! early.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll, ready},
};

use http::{Extensions, Request, Response};
use http_body::{Body as HttpBody, Frame, SizeHint};
use pin_project_lite::pin_project;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tonic::{Code, Status};

use super::{
    peer::Peer,
    polled_frame::PolledFrame,
    refusal,
    rules::{Lifetime, Rule},
};
use toolwire_base::middleware::Middleware;
use toolwire_contract::status;

/// Ends watches at the signal of their connection.
#[derive(Debug, Clone, Copy)]
pub(super) struct EndWatches;

impl<S, ReqB, ResB> Middleware<Request<ReqB>, S> for EndWatches
where
    S: tower::Service<Request<ReqB>, Response = Response<ResB>, Error = Infallible>,
{
    type Future = ResponseFuture<S::Future>;

    fn call(&self, request: Request<ReqB>, inner: &mut S) -> Self::Future {
        let end = watch_end(request.extensions());
        let inner = Some(inner.call(request));
        ResponseFuture { inner, ended: end.clone().map(CancellationToken::cancelled_owned), end }
    }
}

/// The signal that ends this request, if it is a watch.
fn watch_end(extensions: &Extensions) -> Option<CancellationToken> {
    let rule = extensions.get::<Rule>()?;
    let peer = extensions.get::<Peer>()?;
    (rule.lifetime == Lifetime::Uncapped).then(|| peer.watches_end.clone())
}

pin_project! {
    /// The response, or UNAVAILABLE when watches end.
    pub(super) struct ResponseFuture<F> {
        #[pin]
        inner: Option<F>,
        #[pin]
        ended: Option<WaitForCancellationFutureOwned>,
        end: Option<CancellationToken>,
    }
}

impl<F, B> Future for ResponseFuture<F>
where
    F: Future<Output = Result<Response<B>, Infallible>>,
{
    type Output = Result<Response<Body<B>>, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        if !has_ended(this.ended, cx)
            && let Some(inner) = this.inner.as_mut().as_pin_mut()
        {
            let Ok(response) = ready!(inner.poll(cx));
            let ended = this.end.take().map(CancellationToken::cancelled_owned);
            return Poll::Ready(Ok(response.map(|inner| Body { inner: Some(inner), ended })));
        }
        this.inner.set(None);
        Poll::Ready(Ok(refusal::response(draining())))
    }
}

pin_project! {
    /// The inner body until its end, or until watches end.
    pub(super) struct Body<B> {
        #[pin]
        inner: Option<B>,
        #[pin]
        ended: Option<WaitForCancellationFutureOwned>,
    }
}

impl<B> Default for Body<B> {
    fn default() -> Self {
        Self { inner: None, ended: None }
    }
}

impl<B: HttpBody> HttpBody for Body<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> PolledFrame<Self> {
        let mut this = self.project();
        let Some(inner) = this.inner.as_mut().as_pin_mut() else { return Poll::Ready(None) };
        if !has_ended(this.ended, cx) {
            return inner.poll_frame(cx);
        }
        this.inner.set(None);
        Poll::Ready(Some(Ok(Frame::trailers(refusal::trailers(&draining())))))
    }

    fn is_end_stream(&self) -> bool {
        self.inner.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    /// Exact only for a body that is not a watch: the layers above do not cut a body of known length.
    fn size_hint(&self) -> SizeHint {
        match (&self.inner, &self.ended) {
            (Some(inner), None) => inner.size_hint(),
            (Some(_), Some(_)) => SizeHint::default(),
            (None, _) => SizeHint::with_exact(0),
        }
    }
}

/// A token that is cancelled when calls that only wait should return, because their connection is drained.
pub fn drain_signal(extensions: &Extensions) -> CancellationToken {
    extensions.get::<Peer>().map(|peer| peer.watches_end.clone()).unwrap_or_default()
}

fn has_ended(ended: Pin<&mut Option<WaitForCancellationFutureOwned>>, cx: &mut Context<'_>) -> bool {
    ended.as_pin_mut().is_some_and(|ended| ended.poll(cx).is_ready())
}

fn draining() -> Status {
    status::plain(Code::Unavailable, "DRAINING", "this connection is about to close; watch again on another")
}
