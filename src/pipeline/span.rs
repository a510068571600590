//! The `execute_tool` span of one execution, by the semantic conventions for generative AI.

use tracing::{Span, field::Empty, info_span};

use super::Call;
use crate::{
    context::{Cancellation, StopCause},
    contract::Terminal,
    telemetry::attribute,
};

/// The span of one execution.
pub fn execute_tool(call: &Call) -> Span {
    let name = call.tool().definition.name.as_str();
    let span = info_span!(
        "execute_tool",
        "otel.name" = Empty,
        "otel.kind" = "internal",
        "otel.status_code" = Empty,
        "gen_ai.operation.name" = "execute_tool",
        "gen_ai.tool.name" = name,
        "gen_ai.tool.type" = "function",
        "gen_ai.tool.call.id" = %call.context.call_id,
        "toolwire.parent_call.id" = Empty,
        "error.type" = Empty,
    );
    span.record(attribute::OTEL_NAME, format!("execute_tool {name}"));
    if let Some(parent) = call.context.parent_call_id {
        span.record(attribute::PARENT_CALL_ID, tracing::field::display(parent));
    }
    span
}

/// Records how the execution ended, also when it was cut.
#[derive(Debug)]
pub struct Ended<'a> {
    span: Span,
    cancellation: &'a Cancellation,
    done: bool,
}

impl<'a> Ended<'a> {
    /// Nothing has ended yet.
    pub fn new(span: &Span, cancellation: &'a Cancellation) -> Self {
        Self { span: span.clone(), cancellation, done: false }
    }

    /// It ended like this.
    pub fn with(mut self, terminal: &Terminal) {
        self.done = true;
        if let Terminal::Result(result) = terminal
            && let Err(error) = &result.outcome
        {
            self.failed(error.code.name());
        }
    }

    fn failed(&self, error_type: &str) {
        self.span.record(attribute::ERROR_TYPE, error_type);
        self.span.record(attribute::OTEL_STATUS_CODE, "ERROR");
    }
}

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        if !self.done {
            self.failed(self.cancellation.cause().map_or("dropped", StopCause::name));
        }
    }
}
