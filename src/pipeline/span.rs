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
        { attribute::OTEL_NAME } = Empty,
        { attribute::OTEL_KIND } = attribute::INTERNAL,
        { attribute::OTEL_STATUS_CODE } = Empty,
        { attribute::GEN_AI_OPERATION_NAME } = attribute::EXECUTE_TOOL,
        { attribute::GEN_AI_TOOL_NAME } = name,
        { attribute::GEN_AI_TOOL_TYPE } = attribute::FUNCTION,
        { attribute::GEN_AI_TOOL_CALL_ID } = %call.context.call_id,
        { attribute::PARENT_CALL_ID } = Empty,
        { attribute::ERROR_TYPE } = Empty,
    );
    span.record(attribute::OTEL_NAME, format!("{} {name}", attribute::EXECUTE_TOOL));
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
        self.span.record(attribute::OTEL_STATUS_CODE, attribute::ERROR);
    }
}

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        if !self.done {
            self.failed(self.cancellation.cause().map_or("dropped", StopCause::name));
        }
    }
}
