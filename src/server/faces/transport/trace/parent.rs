//! The caller's trace: the parent of a request's span, and the trace id in the log line of its call.

use http::{HeaderMap, Request};
use opentelemetry::{
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
    let is_named = request.headers().contains_key("traceparent");
    let parent = is_named.then(|| TraceContextPropagator::new().extract(&Headers(request.headers())));
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
