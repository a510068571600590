//! A failure with the code and message that every face uses.

use std::time::Duration;

use serde_json::{Value, json};
use tonic::Status;

use super::{CallFacts, milliseconds};
use toolwire_contract::{ErrorCode, Refusal, proto::v1};

#[derive(Debug, Default)]
pub(super) struct Failure {
    pub(super) code: String,
    pub(super) message: String,
    pub(super) retryable: bool,
    pub(super) retry_after: Option<Duration>,
    pub(super) origin: &'static str,
    pub(super) violations: Vec<v1::FieldViolation>,
    pub(super) attempts: u32,
}

impl Failure {
    pub(super) fn of_tool(error: v1::ToolError, facts: &CallFacts) -> Self {
        let (code, origin) = (error.code().as_str_name(), error.origin());
        // A repeat without the same request_id could be a second write.
        let is_repeatable = error.code() != v1::ToolErrorCode::OutcomeUnknown || facts.request_id.is_some();
        Self {
            code: code.strip_prefix("TOOL_ERROR_CODE_").unwrap_or(code).to_owned(),
            retryable: error.retryable && is_repeatable,
            retry_after: error.retry_after.and_then(|after| Duration::try_from(after).ok()),
            origin: match origin {
                v1::ErrorOrigin::Caller => "caller",
                v1::ErrorOrigin::Tool | v1::ErrorOrigin::Unspecified => "tool",
                v1::ErrorOrigin::Source => "source",
                v1::ErrorOrigin::Service => "service",
            },
            violations: error.field_violations,
            attempts: error.attempts,
            message: error.message,
        }
    }

    pub(super) fn deadline_exceeded() -> Self {
        Self {
            code: "DEADLINE_EXCEEDED".to_owned(),
            message: Refusal::DeadlineExceeded.to_string(),
            retryable: true,
            origin: "caller",
            ..Self::default()
        }
    }

    pub(super) fn broken_off(facts: &CallFacts) -> Self {
        Self {
            code: "OUTCOME_UNKNOWN".to_owned(),
            message: "The connection to the server broke off before the write was answered, and whether it has changed \
                      anything is not known"
                .to_owned(),
            // Without one, the server may count its outcome as delivered, and an equal call as another write.
            retryable: facts.request_id.is_some(),
            origin: "service",
            ..Self::default()
        }
    }

    pub(super) fn too_large() -> Self {
        Self {
            code: "RESULT_TOO_LARGE".to_owned(),
            message: "the call succeeded, and its result is too large to be shown in part".to_owned(),
            origin: "service",
            ..Self::default()
        }
    }

    pub(super) fn unavailable(status: &Status) -> Self {
        Self {
            code: "UNAVAILABLE".to_owned(),
            message: status.message().to_owned(),
            retryable: true,
            origin: "service",
            ..Self::default()
        }
    }

    /// What the model should do: when and how to call again, unless the message says it, or what such a failure means.
    pub(super) fn advice(&self, facts: &CallFacts) -> String {
        if self.message.contains("call again") {
            return String::new();
        }
        let again = self.advice_to_call_again(facts);
        let code = self.code.parse::<ErrorCode>().ok();
        match code.and_then(|code| code.advice(self.retryable)) {
            // On a line of its own: some messages end with a full stop, and some do not.
            Some(advice) if again.is_empty() => format!("\n{advice}"),
            _ => again,
        }
    }

    fn advice_to_call_again(&self, facts: &CallFacts) -> String {
        if !self.retryable {
            return String::new();
        }
        let when = self.retry_after.map(|after| format!(" in {} s", after.as_secs_f64().ceil()));
        let how = facts.request_id.map(|id| format!(" with request_id {id}"));
        if when.is_none() && how.is_none() {
            return String::new();
        }
        format!("; call again{}{}", when.unwrap_or_default(), how.unwrap_or_default())
    }

    pub(super) fn to_json(&self, facts: &CallFacts) -> Value {
        let violations: Vec<_> = self
            .violations
            .iter()
            .map(|it| json!({"pointer": it.pointer, "rule": it.rule, "description": it.description}))
            .collect();
        json!({
            "code": self.code,
            "retryable": self.retryable,
            "retry_after_ms": self.retry_after.map(milliseconds),
            "origin": self.origin,
            "field_violations": violations,
            "attempts": self.attempts,
            "call_id": facts.call_id,
            "request_id": facts.request_id.map(|id| id.to_string()),
        })
    }
}
