//! The trace of a call, for the process that carries it out.

use opentelemetry::{Context, trace::TraceContextExt};

/// The span that carries the call out, as W3C Trace Context writes it; empty without a trace.
pub fn traceparent() -> String {
    Context::map_current(|context| {
        let span = context.span().span_context().clone();
        let flags = span.trace_flags().to_u8();
        if span.is_valid() {
            format!("00-{}-{}-{flags:02x}", span.trace_id(), span.span_id())
        } else {
            String::new()
        }
    })
}
