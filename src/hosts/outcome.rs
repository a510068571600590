//! What a host says of the end of a call, as the result of it.
//!
//! A host's words are bounded here; what only the server may say (`CONFIRMATION_*`, the origin of an error) is not
//! taken over.

use crate::wire::outcome::Outcome;
use toolwire_contract::{ErrorCode, Origin, Payload, ToolError, Violation, proto::v1};
use toolwire_providers::{
    Effect,
    bounds::{MAX_ERROR, MAX_PROBLEM_TEXT, MAX_RETRY_AFTER},
    cut,
    outcome::{OutputSchema, length},
    read_data,
};

/// Violations of arguments that are taken over from an error.
const MAX_VIOLATIONS: usize = 100;
/// What the outcome of a write that ended in its middle says to do.
const WHAT_TO_DO: &str = "How much of it was done is not known: look at what it was to change, then decide whether to \
                          call again under a new request_id.";

/// The result of a call.
pub(crate) async fn read(
    outcome: Outcome,
    effect: Effect,
    output: &OutputSchema,
) -> Result<Payload, ToolError> {
    match outcome {
        Outcome::DataJson(text) => read_data(text, effect, output).await,
        Outcome::Error(error) => Err(failure(error, effect)),
    }
}

fn failure(error: v1::ToolError, effect: Effect) -> ToolError {
    let code = code(error.code(), effect);
    let is_unknown = code == ErrorCode::OutcomeUnknown;
    let message = if is_unknown { add_what_to_do(&error.message) } else { cut(&error.message, MAX_ERROR) };
    let usual = ToolError::new(code, message);
    let violations = error.field_violations.into_iter().take(MAX_VIOLATIONS);
    ToolError {
        // The call has ended on its host, so that a repeat learns no more than this.
        retryable: error.retryable && !is_unknown,
        retry_after: error
            .retry_after
            .and_then(|it| length(it.seconds, it.nanos))
            .map(|it| it.min(MAX_RETRY_AFTER)),
        origin: Origin::Tool,
        violations: violations
            .map(|it| Violation {
                pointer: cut(&it.pointer, MAX_PROBLEM_TEXT),
                rule: cut(&it.rule, MAX_PROBLEM_TEXT),
                description: cut(&it.description, MAX_PROBLEM_TEXT),
            })
            .collect(),
        ..usual
    }
}

/// The function ended in the middle of a write. What to do stands at the end, and so is never cut.
fn add_what_to_do(message: &str) -> String {
    let message = cut(message, MAX_ERROR - WHAT_TO_DO.len() - ". ".len());
    match message.trim_end().trim_end_matches('.') {
        "" => WHAT_TO_DO.to_owned(),
        message => format!("{message}. {WHAT_TO_DO}"),
    }
}

/// The code that a caller sees. A read has no outcome that could be unknown. Of a write that cannot be repeated, what
/// does not say that nothing was changed leaves the outcome unknown.
fn code(code: v1::ToolErrorCode, effect: Effect) -> ErrorCode {
    use v1::ToolErrorCode as Code;
    let code = match code {
        Code::RateLimited => ErrorCode::RateLimited,
        Code::NotFound => ErrorCode::NotFound,
        Code::Timeout => ErrorCode::Timeout,
        Code::AuthFailed => ErrorCode::AuthFailed,
        Code::Blocked => ErrorCode::Blocked,
        Code::ParseError => ErrorCode::ParseError,
        Code::InvalidArgument => ErrorCode::InvalidArgument,
        Code::PermissionDenied => ErrorCode::PermissionDenied,
        Code::Cancelled => ErrorCode::Cancelled,
        Code::Unavailable => ErrorCode::Unavailable,
        Code::Conflict => ErrorCode::Conflict,
        Code::ResultTooLarge => ErrorCode::ResultTooLarge,
        Code::OutcomeUnknown if effect != Effect::Read => ErrorCode::OutcomeUnknown,
        Code::OutcomeUnknown
        | Code::Unknown
        | Code::Unspecified
        | Code::ConfirmationDenied
        | Code::ConfirmationExpired => ErrorCode::Unknown,
    };
    let is_uncertain = matches!(
        code,
        ErrorCode::Unknown | ErrorCode::Unavailable | ErrorCode::Timeout | ErrorCode::Cancelled
    );
    if effect == Effect::Write && is_uncertain { ErrorCode::OutcomeUnknown } else { code }
}

#[cfg(test)]
mod tests;
