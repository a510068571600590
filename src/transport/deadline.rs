//! Enforces the deadline of every call, including its response body: arrival + min(`grpc-timeout`, the server's cap).
//!
//! A call that passes its deadline is dropped and answered with `DEADLINE_EXCEEDED`, trailers-only before the headers
//! and in trailers after them. Watches and transfers have no cap, but their caller's time-out applies. Transfers, and
//! watches with a stall time-out, also end when their reader stalls. The tool pipeline enforces the same deadline for
//! work that continues without a reader; this layer also covers requests that never reach a tool.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use http::{Extensions, Request, Response};
use http_body::Body as HttpBody;
use pin_project_lite::pin_project;
use tokio::time::Instant;

use self::{body::Body, status::deadline_exceeded, timer::Timer};
use super::{
    arrival::Arrival,
    refusal,
    rules::{Lifetime, Rule},
};
use toolwire_base::{clock, middleware::Middleware};

mod body;
mod status;
mod timer;

/// The stall time-out of transfers.
const STALL: Duration = Duration::from_secs(30);

/// Bounds calls by `cap` and by their callers' time-outs.
#[derive(Debug, Clone, Copy)]
pub(super) struct EnforceDeadline {
    cap: Duration,
    /// The stall time-out of watches; `None`: unlimited.
    watch_stall: Option<Duration>,
}

impl EnforceDeadline {
    pub(super) fn new(cap: Duration) -> Self {
        Self { cap, watch_stall: None }
    }

    pub(super) fn with_watch_stall(self, within: Duration) -> Self {
        Self { watch_stall: Some(within), ..self }
    }

    fn deadline(&self, extensions: &Extensions) -> Option<Instant> {
        let lifetime = extensions.get::<Rule>().map_or(Lifetime::Capped, |rule| rule.lifetime);
        let cap = match lifetime {
            Lifetime::ByHandler => return None,
            Lifetime::Capped => Some(self.cap),
            Lifetime::Uncapped | Lifetime::Transfer | Lifetime::Slot => None,
        };
        match extensions.get::<Arrival>() {
            Some(arrival) => arrival.deadline(cap),
            None => cap.map(|cap| clock::now() + cap),
        }
    }

    /// The stall time-out, for calls without a cap.
    fn stall(&self, extensions: &Extensions) -> Option<Duration> {
        match extensions.get::<Rule>()?.lifetime {
            Lifetime::Capped | Lifetime::Slot => None,
            Lifetime::Uncapped | Lifetime::ByHandler => self.watch_stall,
            Lifetime::Transfer => Some(STALL),
        }
    }
}

impl<S, ReqB, ResB> Middleware<Request<ReqB>, S> for EnforceDeadline
where
    S: tower::Service<Request<ReqB>, Response = Response<ResB>, Error = Infallible>,
    ResB: HttpBody,
{
    type Future = ResponseFuture<S::Future>;

    fn call(&self, request: Request<ReqB>, inner: &mut S) -> Self::Future {
        let extensions = request.extensions();
        let timer = Timer::new(self.deadline(extensions)).with_stall(self.stall(extensions));
        // A call that is past its deadline on arrival, such as one with `grpc-timeout: 0n`, does no work at all.
        let inner = (!timer.is_past()).then(|| inner.call(request));
        ResponseFuture { inner, timer }
    }
}

pin_project! {
    /// The response, or DEADLINE_EXCEEDED.
    #[derive(Debug)]
    pub(super) struct ResponseFuture<F> {
        #[pin]
        inner: Option<F>,
        timer: Timer,
    }
}

impl<F, B> Future for ResponseFuture<F>
where
    F: Future<Output = Result<Response<B>, Infallible>>,
    B: HttpBody,
{
    type Output = Result<Response<Body<B>>, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        this.timer.publish();
        if let Some(inner) = this.inner.as_mut().as_pin_mut() {
            match inner.poll(cx) {
                Poll::Ready(Ok(response)) if is_in_time(&response, this.timer) => {
                    return Poll::Ready(Ok(bound_body(response, this.timer.take())));
                }
                Poll::Ready(Ok(_)) => {}
                Poll::Pending => ready!(this.timer.poll(cx)),
            }
            this.inner.set(None);
        }
        Poll::Ready(Ok(refusal::response(deadline_exceeded())))
    }
}

/// Whether a response is before the deadline, or is itself an error.
fn is_in_time<B: HttpBody>(response: &Response<B>, timer: &Timer) -> bool {
    !timer.is_past() || !response.status().is_success() || response.body().is_end_stream()
}

/// Bounds the body by the deadline. A body of known length is already complete and is not cut, since its reader would
/// be left without a response; if the reader stalls, the stream's task ends it.
fn bound_body<B: HttpBody>(response: Response<B>, timer: Timer) -> Response<Body<B>> {
    let is_complete = !timer.counts_stalls() && response.body().size_hint().exact().is_some();
    let timer = if is_complete { Timer::default() } else { timer };
    response.map(|inner| Body::new(inner, timer))
}

#[cfg(test)]
mod tests;
