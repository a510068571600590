//! Failures as gRPC statuses: one function for a refusal, one for a tool's error on a typed RPC.
//!
//! Every status carries exactly one `google.rpc.ErrorInfo` of domain `toolwire`; `docs/ERRORS.md` lists them.

use std::time::Duration;

use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt};

use super::{ErrorCode, Refusal, ToolError, Violation};

/// The domain of every `google.rpc.ErrorInfo`.
pub const DOMAIN: &str = "toolwire";

/// The longest status message; a longer one can mask the real code behind a header limit.
const MAX_MESSAGE: usize = 1024;

impl From<Refusal> for Status {
    fn from(refusal: Refusal) -> Self {
        let message = refusal.to_string();
        let details = info(reason_of(&refusal));
        let details = match &refusal {
            Refusal::InvalidRequest(violations) => with_violations(details, violations),
            Refusal::UnknownTool { name, .. } => resource(details, "tool", name),
            Refusal::UnknownIntent { intent, .. } => resource(details, "intent", intent),
            Refusal::RequestIdReused { request_id } => resource(details, "request_id", request_id),
            Refusal::Overloaded { retry_after, .. } => with_retry(details, *retry_after),
            _ => details,
        };
        status(code_of_refusal(&refusal), &message, details)
    }
}

/// The status code of a refusal.
pub const fn code_of_refusal(refusal: &Refusal) -> Code {
    match refusal {
        // The caller's mistake, to be mended before a retry.
        Refusal::InvalidRequest(_) => Code::InvalidArgument,
        // Near names are only those the user may call.
        Refusal::UnknownTool { .. } | Refusal::UnknownIntent { .. } => Code::NotFound,
        // Said before existence is revealed.
        Refusal::PermissionDenied { .. } => Code::PermissionDenied,
        // The tool exists but an operator must configure something first.
        Refusal::ToolDisabled { .. } => Code::FailedPrecondition,
        Refusal::RequestIdReused { .. } => Code::AlreadyExists,
        // Nothing was started: a client or a mesh may retry after the stated time.
        Refusal::Overloaded { .. } => Code::ResourceExhausted,
        Refusal::DeadlineExceeded => Code::DeadlineExceeded,
        // Nobody reads it; it is what logs and spans say.
        Refusal::CallerGone => Code::Cancelled,
        Refusal::ShuttingDown => Code::Unavailable,
        Refusal::Internal { .. } => Code::Internal,
    }
}

/// The stable reason of a refusal, as its `google.rpc.ErrorInfo` states it.
pub const fn reason_of(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::InvalidRequest(_) => "INVALID_REQUEST",
        Refusal::UnknownTool { .. } => "UNKNOWN_TOOL",
        Refusal::UnknownIntent { .. } => "UNKNOWN_INTENT",
        Refusal::PermissionDenied { .. } => "TOOL_NOT_ALLOWED",
        Refusal::ToolDisabled { .. } => "TOOL_DISABLED",
        Refusal::RequestIdReused { .. } => "REQUEST_ID_REUSED",
        Refusal::Overloaded { .. } => "TOO_MANY_REQUEST_IDS",
        Refusal::DeadlineExceeded => "DEADLINE_EXCEEDED",
        Refusal::CallerGone => "CALLER_GONE",
        Refusal::ShuttingDown => "SHUTTING_DOWN",
        Refusal::Internal { .. } => "INTERNAL",
    }
}

/// The status of a tool's error on a typed RPC, which has no room for a result.
pub fn of_tool_error(error: &ToolError) -> Status {
    let mut details = with_violations(info(error.code.name()), &error.violations);
    if let Some(retry_after) = error.retry_after {
        details = with_retry(details, retry_after);
    }
    status(code_of(error.code), &error.message, details)
}

/// The same name where gRPC has it, otherwise the nearest meaning.
pub const fn code_of(code: ErrorCode) -> Code {
    match code {
        ErrorCode::NotFound => Code::NotFound,
        ErrorCode::InvalidArgument => Code::InvalidArgument,
        ErrorCode::PermissionDenied => Code::PermissionDenied,
        ErrorCode::Cancelled => Code::Cancelled,
        ErrorCode::Unavailable => Code::Unavailable,
        ErrorCode::RateLimited => Code::ResourceExhausted,
        ErrorCode::Timeout => Code::DeadlineExceeded,
        ErrorCode::AuthFailed
        | ErrorCode::Blocked
        | ErrorCode::ConfirmationDenied
        | ErrorCode::ConfirmationExpired => Code::FailedPrecondition,
        ErrorCode::Conflict => Code::Aborted,
        ErrorCode::ParseError | ErrorCode::ResultTooLarge => Code::Internal,
        ErrorCode::Unknown | ErrorCode::OutcomeUnknown => Code::Unknown,
    }
}

/// A status with its details, its message cut to what headers carry safely.
pub fn status(code: Code, message: &str, details: ErrorDetails) -> Status {
    let end = message.floor_char_boundary(MAX_MESSAGE);
    Status::with_error_details(code, &message[..end], details)
}

/// The details that every status has.
pub fn info(reason: &str) -> ErrorDetails {
    ErrorDetails::with_error_info(reason, DOMAIN, [])
}

/// Adds when to try again.
pub fn with_retry(mut details: ErrorDetails, retry_after: Duration) -> ErrorDetails {
    details.set_retry_info(Some(retry_after));
    details
}

/// Adds what is wrong with the request, if anything is.
pub fn with_violations(mut details: ErrorDetails, violations: &[Violation]) -> ErrorDetails {
    for violation in violations {
        details.add_bad_request_violation(&violation.pointer, &violation.description);
    }
    details
}

fn resource(mut details: ErrorDetails, kind: &str, name: &str) -> ErrorDetails {
    details.set_resource_info(kind, name, "", "");
    details
}
