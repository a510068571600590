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
        match refusal {
            // The caller's mistake, to be mended before a retry.
            Refusal::InvalidRequest(violations) => {
                let details = with_violations(info("INVALID_REQUEST"), &violations);
                status(Code::InvalidArgument, &message, details)
            }
            // Named near names are only those the user may call.
            Refusal::UnknownTool { name, .. } => {
                let details = resource(info("UNKNOWN_TOOL"), "tool", &name);
                status(Code::NotFound, &message, details)
            }
            Refusal::UnknownIntent { intent, .. } => {
                let details = resource(info("UNKNOWN_INTENT"), "intent", &intent);
                status(Code::NotFound, &message, details)
            }
            // Said before existence is revealed.
            Refusal::PermissionDenied { .. } => {
                status(Code::PermissionDenied, &message, info("TOOL_NOT_ALLOWED"))
            }
            // The tool exists but an operator must configure something first.
            Refusal::ToolDisabled { .. } => status(Code::FailedPrecondition, &message, info("TOOL_DISABLED")),
            Refusal::RequestIdReused { request_id } => {
                let details = resource(info("REQUEST_ID_REUSED"), "request_id", &request_id);
                status(Code::AlreadyExists, &message, details)
            }
            // Nothing was started: a client or a mesh may retry after the stated time.
            Refusal::Overloaded { retry_after, .. } => {
                let details = with_retry(info("OVERLOADED"), retry_after);
                status(Code::ResourceExhausted, &message, details)
            }
            Refusal::DeadlineExceeded => status(Code::DeadlineExceeded, &message, info("DEADLINE_EXCEEDED")),
            // Nobody reads it; it is what logs and spans say.
            Refusal::CallerGone => status(Code::Cancelled, &message, info("CALLER_GONE")),
            Refusal::ShuttingDown => status(Code::Unavailable, &message, info("SHUTTING_DOWN")),
            Refusal::Internal { .. } => status(Code::Internal, &message, info("INTERNAL")),
        }
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
