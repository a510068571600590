//! Spans and metrics of executions, by the semantic conventions for generative AI.

use tokio::time::Instant;
use tracing::{Span, field::Empty, info_span};

use super::Call;
use toolwire_base::clock;
use toolwire_contract::{ConfirmationRequired, Terminal};
use toolwire_telemetry::{attribute, metric};

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
    if !span.is_disabled() {
        span.record(attribute::OTEL_NAME, format!("{} {name}", attribute::EXECUTE_TOOL));
        if let Some(parent) = call.context.parent_call_id {
            span.record(attribute::PARENT_CALL_ID, tracing::field::display(parent));
        }
    }
    span
}

/// The span of a wait for a person.
pub fn await_confirmation(required: &ConfirmationRequired) -> Span {
    info_span!(
        "await_confirmation",
        { attribute::OTEL_KIND } = attribute::INTERNAL,
        { attribute::GEN_AI_TOOL_NAME } = required.tool.as_str(),
        { attribute::CONFIRMATION_ID } = %required.confirmation_id,
    )
}

/// Records the end of an execution in its span and metric; dropped without [`finish`](Self::finish), as an execution
/// that was cut.
#[derive(Debug)]
pub struct ExecutionRecorder<'a> {
    span: Span,
    call: &'a Call,
    began: Instant,
    done: bool,
}

impl<'a> ExecutionRecorder<'a> {
    pub fn new(span: &Span, call: &'a Call) -> Self {
        Self { span: span.clone(), call, began: clock::now(), done: false }
    }

    pub fn finish(mut self, terminal: &Terminal) {
        self.done = true;
        let error = match terminal {
            Terminal::Result(result) => result.outcome.as_ref().err().map(|error| error.code.into_str()),
            Terminal::ConfirmationRequired(_) => None,
        };
        self.record(error);
    }

    fn record(&self, error_type: Option<&'static str>) {
        let tool = &self.call.tool().definition.name;
        metric::tool_executed(tool, error_type, clock::now() - self.began);
        if let Some(error_type) = error_type {
            self.span.record(attribute::ERROR_TYPE, error_type);
            self.span.record(attribute::OTEL_STATUS_CODE, attribute::ERROR);
        }
    }
}

impl Drop for ExecutionRecorder<'_> {
    fn drop(&mut self) {
        if !self.done {
            let cause = self.call.context.cancellation.cause();
            self.record(Some(cause.map_or("dropped", Into::into)));
        }
    }
}
