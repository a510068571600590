//! The outcome of a call as its record needs it.

use crate::pipeline::{Call, CallResult};
use toolwire_contract::{Terminal, ToolResult, status};

/// The code of an outcome, for the record of a call that had no effect.
pub(super) fn code_of(end: &CallResult) -> &'static str {
    match end {
        Ok(Terminal::Result(result)) => {
            result.outcome.as_ref().err().map_or("OK", |error| error.code.into_str())
        }
        Ok(Terminal::ConfirmationRequired(_)) => "CONFIRMATION_REQUIRED",
        Err(refusal) => status::reason_of(refusal),
    }
}

/// Whether an outcome is recorded as final, so that a repeat gets it without another attempt.
pub(super) fn is_final(call: &Call, result: &ToolResult) -> bool {
    let Err(error) = &result.outcome else { return true };
    // A read has no effect, so retryable errors are not stored.
    error.code.is_final() && (call.writes() || !error.retryable)
}
