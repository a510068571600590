//! One SERVER span per RPC: a child of the caller's `traceparent`, ended with the response body.
//!
//! The status is taken from the trailers; a stream that is dropped before them was CANCELLED, or had passed its
//! deadline. No content of requests or responses is recorded. The RPC is counted in the metrics when the span ends.
//! Without a subscriber that enables the span, the cost is negligible.

use std::{
    convert::Infallible,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use http::{Request, Response};
use http_body::{Body as HttpBody, SizeHint};
use pin_project_lite::pin_project;
use tonic::Code;

use self::recorder::Recorder;
pub use self::{line::LoggedByPipeline, parent::CallersTrace};
use super::{polled_frame::PolledFrame, refusal, rules::Rules};
use toolwire_base::middleware::Middleware;

mod line;
pub mod parent;
mod recorder;

#[derive(Debug, Clone)]
pub(super) struct Trace {
    rules: Rules,
}

impl Trace {
    pub(super) fn new(rules: Rules) -> Self {
        Self { rules }
    }
}

impl<S, ReqB, ResB> Middleware<Request<ReqB>, S> for Trace
where
    S: tower::Service<Request<ReqB>, Response = Response<ResB>, Error = Infallible>,
    ResB: HttpBody,
{
    type Future = ResponseFuture<S::Future>;

    fn call(&self, mut request: Request<ReqB>, inner: &mut S) -> Self::Future {
        // Looked up once: the layers below find the rule in the request.
        let found = self.rules.find(request.uri().path()).map(|(name, rule)| (Arc::clone(name), rule));
        let (method, rule) = found.unzip();
        if let Some(rule) = rule {
            request.extensions_mut().insert(rule);
        }
        let recorder = Recorder::open(method, &mut request);
        let inner = recorder.span().in_scope(|| inner.call(request));
        ResponseFuture { inner, recorder: Some(recorder) }
    }
}

pin_project! {
    /// The response, whose body takes over the span.
    #[derive(Debug)]
    pub(super) struct ResponseFuture<F> {
        #[pin]
        inner: F,
        recorder: Option<Recorder>,
    }
}

impl<F, B> Future for ResponseFuture<F>
where
    F: Future<Output = Result<Response<B>, Infallible>>,
    B: HttpBody,
{
    type Output = Result<Response<Body<B>>, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let recorder = this.recorder.as_ref().expect("a future is not polled after it is ready");
        let Ok(response) = ready!(recorder.span().in_scope(|| this.inner.poll(cx)));
        let mut recorder = this.recorder.take();
        let code = refusal::code_in(response.headers());
        // No status and no body: not gRPC (HTTP 415), which clients report as UNKNOWN.
        if code.is_some() || response.body().is_end_stream() {
            end(&mut recorder, code);
        }
        Poll::Ready(Ok(response.map(|inner| Body { inner, recorder })))
    }
}

pin_project! {
    /// The inner body; the span ends with it.
    #[derive(Debug)]
    pub(super) struct Body<B> {
        #[pin]
        inner: B,
        recorder: Option<Recorder>,
    }
}

impl<B: HttpBody> HttpBody for Body<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> PolledFrame<Self> {
        let this = self.project();
        let polled = match this.recorder.as_ref() {
            Some(recorder) => recorder.span().in_scope(|| this.inner.poll_frame(cx)),
            None => this.inner.poll_frame(cx),
        };
        let frame = ready!(polled);
        match &frame {
            Some(Ok(frame)) => {
                if let Some(trailers) = frame.trailers_ref() {
                    end(this.recorder, refusal::code_in(trailers));
                }
            }
            Some(Err(_)) | None => end(this.recorder, None),
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

/// Ends the span, at most once; without a code as UNKNOWN.
fn end(recorder: &mut Option<Recorder>, code: Option<Code>) {
    if let Some(recorder) = recorder.take() {
        recorder.end(code.unwrap_or(Code::Unknown));
    }
}

#[cfg(test)]
mod tests;
