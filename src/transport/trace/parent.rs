//! The caller's trace: the parent of a request's span, and the trace id in the log line of its call.

use std::borrow::Cow;

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

const TRACEPARENT: &str = "traceparent";
const TRACESTATE: &str = "tracestate";

/// The trace of the caller, in the extensions of a request with a `traceparent`.
#[derive(Debug, Clone, Copy)]
pub struct CallersTrace(pub TraceId);

/// Inserts the caller's trace into the request, for the log line of its call, whether or not spans are enabled.
pub fn note_trace<B>(request: &mut Request<B>) {
    if let Some(trace_id) = traceparent(request.headers()).and_then(telemetry::trace_id_in) {
        request.extensions_mut().insert(CallersTrace(trace_id));
    }
}

/// Opens the span of a request by `open`; a disabled span if the request is not sampled.
pub fn span_of<B>(request: &Request<B>, open: impl FnOnce(&Request<B>) -> Span) -> Span {
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
pub fn linked_span_of<B>(request: &mut Request<B>, open: impl FnOnce(&Request<B>) -> Span) -> Span {
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
    let carrier = TraceContext { traceparent: traceparent(headers)?, tracestate: tracestate(headers) };
    Some(TraceContextPropagator::new().extract(&carrier))
}

/// The header that names the caller's span. Two of them are none, since either could be meant.
fn traceparent(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(TRACEPARENT).iter();
    let value = values.next()?.to_str().ok();
    value.filter(|_| values.next().is_none())
}

/// A list, which may come in several fields (W3C Trace Context §3.3.1).
fn tracestate(headers: &HeaderMap) -> Option<Cow<'_, str>> {
    let mut fields = headers.get_all(TRACESTATE).iter().filter_map(|field| field.to_str().ok());
    let first = fields.next()?;
    Some(fields.fold(Cow::Borrowed(first), |joined, field| Cow::Owned(format!("{joined},{field}"))))
}

/// What propagators read of a request.
struct TraceContext<'a> {
    traceparent: &'a str,
    tracestate: Option<Cow<'a, str>>,
}

impl Extractor for TraceContext<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        match key {
            TRACEPARENT => Some(self.traceparent),
            TRACESTATE => self.tracestate.as_deref(),
            _ => None,
        }
    }

    fn keys(&self) -> Vec<&str> {
        vec![TRACEPARENT, TRACESTATE]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    fn of_caller(fields: &[(&'static str, &str)]) -> SpanContext {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(*name, value.parse().expect("a header value"));
        }
        parent(&headers).map_or(SpanContext::NONE, |it| it.span().span_context().clone())
    }

    #[test]
    fn the_fields_of_a_trace_state_are_one_list() {
        let of_caller = of_caller(&[(TRACEPARENT, PARENT), (TRACESTATE, "a=1,b=2"), (TRACESTATE, "c=3")]);
        assert!(of_caller.is_remote() && of_caller.is_valid());
        assert_eq!(of_caller.trace_state().header(), "a=1,b=2,c=3");
    }

    #[test]
    fn two_parents_are_none() {
        assert!(of_caller(&[(TRACEPARENT, PARENT)]).is_valid());
        assert!(!of_caller(&[(TRACEPARENT, PARENT), (TRACEPARENT, PARENT)]).is_valid());
    }
}
