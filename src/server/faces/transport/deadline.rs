//! Bounds every call, response body included: arrival + min(`grpc-timeout`, the server's cap).
//!
//! What passes its deadline is dropped and answered `DEADLINE_EXCEEDED`: trailers-only before the headers, in trailers
//! after them. Watches have no cap but keep their caller's time-out; neither have files on their way. The stream of a
//! file, and of a watch where it is said for how long, ends when its reader takes nothing. The tool pipeline below
//! decides the same for tools that go on without a reader; this layer also covers what never reaches a tool.

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

use self::{body::Body, exceeded::exceeded, timer::Timer};
use super::{
    arrival::Arrival,
    refusal,
    rules::{Lifetime, Rule},
};
use toolwire_base::{clock, middleware::Middleware};

mod body;
mod exceeded;
mod timer;

/// A reader of a file that takes nothing for so long is gone.
const STALL: Duration = Duration::from_secs(30);

/// Bounds calls by `cap` and by what their callers ask for.
#[derive(Debug, Clone, Copy)]
pub(super) struct EnforceDeadline {
    cap: Duration,
    /// How long the reader of a watch may take nothing; as long as it likes, if nothing is said.
    watched: Option<Duration>,
}

impl EnforceDeadline {
    pub(super) fn new(cap: Duration) -> Self {
        Self { cap, watched: None }
    }

    /// The same, but the reader of a watch takes something within so long, if more waits for it.
    pub(super) fn watched(self, within: Duration) -> Self {
        Self { watched: Some(within), ..self }
    }

    fn deadline(&self, extensions: &Extensions) -> Option<Instant> {
        let lifetime = extensions.get::<Rule>().map_or(Lifetime::Capped, |rule| rule.lifetime);
        let cap = match lifetime {
            Lifetime::Capped => Some(self.cap),
            Lifetime::Uncapped | Lifetime::Transfer => None,
        };
        match extensions.get::<Arrival>() {
            Some(arrival) => arrival.deadline(cap),
            None => cap.map(|cap| clock::now() + cap),
        }
    }

    /// How long a reader may take nothing, where no cap bounds how long it holds what it reads.
    fn stall(&self, extensions: &Extensions) -> Option<Duration> {
        match extensions.get::<Rule>()?.lifetime {
            Lifetime::Capped => None,
            Lifetime::Uncapped => self.watched,
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
        let timer = Timer::new(self.deadline(extensions)).stalling(self.stall(extensions));
        // A call that arrives too late, such as one with `grpc-timeout: 0n`, does no work at all.
        let inner = (!timer.is_past()).then(|| inner.call(request));
        ResponseFuture { inner, timer }
    }
}

pin_project! {
    /// The answer, or DEADLINE_EXCEEDED.
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
        this.timer.tell_stream();
        if let Some(inner) = this.inner.as_mut().as_pin_mut() {
            match inner.poll(cx) {
                Poll::Ready(Ok(response)) if is_in_time(&response, this.timer) => {
                    return Poll::Ready(Ok(bounded(response, this.timer.take())));
                }
                Poll::Ready(Ok(_)) => {}
                Poll::Pending => ready!(this.timer.poll(cx)),
            }
            this.inner.set(None);
        }
        Poll::Ready(Ok(refusal::response(exceeded())))
    }
}

/// Whether an answer comes before the deadline, or says by itself that there is none.
fn is_in_time<B: HttpBody>(response: &Response<B>, timer: &Timer) -> bool {
    !timer.is_past() || !response.status().is_success() || response.body().is_end_stream()
}

/// The answer with a body that ends by the deadline. One whose length is known is complete: nobody waits for its end,
/// and breaking it off would leave its reader with nothing. A reader that does not take it is ended with its stream.
fn bounded<B: HttpBody>(response: Response<B>, timer: Timer) -> Response<Body<B>> {
    let is_complete = !timer.counts_stalls() && response.body().size_hint().exact().is_some();
    let timer = if is_complete { Timer::default() } else { timer };
    response.map(|inner| Body::new(inner, timer))
}

#[cfg(test)]
mod tests;
