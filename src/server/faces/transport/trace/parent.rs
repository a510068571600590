//! The caller's trace: the parent of a request's span, and the trace id in the log line of its call.

use http::{HeaderMap, Request, header::AUTHORIZATION};
use opentelemetry::{
    Context,
    propagation::{Extractor, TextMapPropagator},
    trace::{SpanContext, TraceContextExt, TraceId},
};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;

use toolwire_telemetry::{self as telemetry, sampling};

/// The trace of the caller, in the extensions of a request with a `traceparent`.
#[derive(Debug, Clone, Copy)]
pub struct CallersTrace(pub TraceId);

/// Inserts the caller's trace into the request, for the log line of its call, whether or not spans are enabled.
pub(in crate::faces) fn note_trace<B>(request: &mut Request<B>) {
    let named = request.headers().get("traceparent").and_then(|value| value.to_str().ok());
    if let Some(trace_id) = named.and_then(telemetry::trace_id_in) {
        request.extensions_mut().insert(CallersTrace(trace_id));
    }
}

/// Opens the span of a request by `open`; a disabled span if the request is not sampled.
pub(in crate::faces) fn span_of<B>(request: &Request<B>, open: impl FnOnce(&Request<B>) -> Span) -> Span {
    let parent = parent(request.headers());
    let of_caller = parent.as_ref().map_or(SpanContext::NONE, |it| it.span().span_context().clone());
    if !sampling::is_traced(&of_caller) {
        return Span::none();
    }
    let span = open(request);
    if let Some(parent) = parent.filter(|_| !span.is_disabled()) {
        // Fails without an OpenTelemetry layer, where the parent does not matter.
        let _ = span.set_parent(parent);
    }
    span
}

/// Opens the span of a request whose caller is a desktop program, and links it to the caller's: such traces are often
/// stored nowhere, and a parent there would hide the span. Where the caller records its trace and presents credentials,
/// the trace is continued.
pub(in crate::faces) fn linked_span_of<B>(
    request: &mut Request<B>,
    open: impl FnOnce(&Request<B>) -> Span,
) -> Span {
    let parent = parent(request.headers());
    let of_caller = parent.map_or(SpanContext::NONE, |it| it.span().span_context().clone());
    if of_caller.is_sampled() && request.headers().contains_key(AUTHORIZATION) {
        note_trace(request);
        return span_of(request, open);
    }
    if !sampling::is_traced(&SpanContext::NONE) {
        return Span::none();
    }
    let span = open(request);
    if of_caller.is_valid() && !span.is_disabled() {
        span.add_link(of_caller);
    }
    span
}

/// The caller's span, as the headers name it.
fn parent(headers: &HeaderMap) -> Option<Context> {
    let is_named = headers.contains_key("traceparent");
    is_named.then(|| TraceContextPropagator::new().extract(&Headers(headers)))
}

/// Adapts request headers to propagators.
struct Headers<'a>(&'a HeaderMap);

impl Extractor for Headers<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.to_str().ok()
    }

    fn keys(&self) -> Vec<&str> {
        self.0.keys().map(http::HeaderName::as_str).collect()
    }
}
