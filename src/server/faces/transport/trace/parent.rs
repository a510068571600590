//! The caller's trace: the parent of a request's span, and what the log line of its call names.

use http::{HeaderMap, Request};
use opentelemetry::{
    propagation::{Extractor, TextMapPropagator},
    trace::{SpanContext, TraceContextExt, TraceId},
};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;

use toolwire_telemetry::{self as telemetry, sampling};

/// In the extensions of a request whose caller traces it: the trace.
#[derive(Debug, Clone, Copy)]
pub struct CallersTrace(pub TraceId);

/// Tells the call of the caller's trace, which its log line names whether or not spans are made here.
pub(in crate::faces) fn note_trace<B>(request: &mut Request<B>) {
    let named = request.headers().get("traceparent").and_then(|value| value.to_str().ok());
    if let Some(trace_id) = named.and_then(telemetry::trace_id_in) {
        request.extensions_mut().insert(CallersTrace(trace_id));
    }
}

/// The span of a request, as `open` makes it; none if it is not to be traced.
pub(in crate::faces) fn span_of<B>(request: &Request<B>, open: impl FnOnce(&Request<B>) -> Span) -> Span {
    let is_named = request.headers().contains_key("traceparent");
    let parent = is_named.then(|| TraceContextPropagator::new().extract(&Headers(request.headers())));
    let of_caller = parent.as_ref().map_or(SpanContext::NONE, |it| it.span().span_context().clone());
    if !sampling::is_traced(&of_caller) {
        return Span::none();
    }
    let span = open(request);
    if let Some(parent) = parent.filter(|_| !span.is_disabled()) {
        // Fails when no OpenTelemetry layer is there to care.
        let _ = span.set_parent(parent);
    }
    span
}

/// Request headers, as propagators read them.
struct Headers<'a>(&'a HeaderMap);

impl Extractor for Headers<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.to_str().ok()
    }

    fn keys(&self) -> Vec<&str> {
        self.0.keys().map(http::HeaderName::as_str).collect()
    }
}
