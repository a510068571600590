//! Failures as gRPC statuses: the one place that builds them.
//!
//! Every status carries exactly one `google.rpc.ErrorInfo`: a stable `UPPER_SNAKE` reason in the domain [`DOMAIN`];
//! `docs/ERRORS.md` lists them. Statuses travel in headers, so everything in them is bounded.

mod document;
mod http;
mod job;
pub mod sign_in;
mod task;
mod turn;
pub mod wrong_port;

use std::collections::HashMap;

use prost::Message;
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt, pb};

pub use self::http::{http_of, scope_challenge};
use super::{DocumentRefusal, ErrorCode, Refusal, ToolError, Violation};

/// The domain of every `google.rpc.ErrorInfo`.
pub const DOMAIN: &str = "toolwire";

/// The reason of a refusal that a token of more scope would not meet.
pub const INSUFFICIENT_SCOPE: &str = "INSUFFICIENT_SCOPE";

/// Maximum size of a status message, in bytes: a longer one can exceed a client's header limit, which hides the code.
const MAX_MESSAGE: usize = 1024;

/// Maximum size of what a status repeats of the request, its violations or a name, in bytes.
const MAX_REPEATED: usize = 2 * 1024;

impl From<DocumentRefusal> for Status {
    fn from(refusal: DocumentRefusal) -> Self {
        Refusal::from(refusal).into()
    }
}

impl From<Refusal> for Status {
    fn from(refusal: Refusal) -> Self {
        let details = match &refusal {
            Refusal::InvalidRequest(violations) => bad_request(violations),
            Refusal::UnknownTool { name, .. } => resource("tool", name),
            Refusal::UnknownIntent { intent, .. } => resource("intent", intent),
            Refusal::RequestIdReused { request_id } => resource("request_id", request_id),
            Refusal::UnknownConfirmation { id } => resource("confirmation", id),
            Refusal::UnknownCall { id } => resource("call", id),
            Refusal::ToolAwaited { retry_after, .. }
            | Refusal::TooManyRequestIds { retry_after }
            | Refusal::TooManyRequestIdsInAll { retry_after }
            | Refusal::TooManyConfirmations { retry_after, .. }
            | Refusal::StateUnavailable { retry_after } => ErrorDetails::with_retry_info(Some(*retry_after)),
            Refusal::QuotaExhausted { user, quota, retry_after } => {
                let mut details = ErrorDetails::with_quota_failure_violation(format!("user:{user}"), quota);
                details.set_retry_info(Some(*retry_after));
                details
            }
            Refusal::Document(refusal) => document::details(refusal),
            Refusal::Job(refusal) => job::details(refusal),
            Refusal::Task(refusal) => task::details(refusal),
            Refusal::Turn(refusal) => turn::details(refusal),
            _ => ErrorDetails::new(),
        };
        let metadata = match &refusal {
            Refusal::Document(refusal) => document::metadata(refusal),
            Refusal::InsufficientScope { scope, .. } => HashMap::from([("scope".to_owned(), scope.clone())]),
            _ => HashMap::new(),
        };
        let (code, reason) = (code_of_refusal(&refusal), reason_of(&refusal));
        with_error_info(code, reason, &refusal.to_string(), details, metadata)
    }
}

pub const fn code_of_refusal(refusal: &Refusal) -> Code {
    match refusal {
        // The caller's mistake, to be fixed before a retry.
        Refusal::InvalidRequest(_) => Code::InvalidArgument,
        // Near names are only those the user may call.
        // Confirmations and calls of others are unknown.
        Refusal::UnknownTool { .. }
        | Refusal::UnknownIntent { .. }
        | Refusal::UnknownConfirmation { .. }
        | Refusal::UnknownCall { .. } => Code::NotFound,
        // Returned before existence is revealed.
        // To users who may have the scope, existence is no secret.
        Refusal::PermissionDenied { .. }
        | Refusal::InsufficientScope { .. }
        | Refusal::MayNotDecide { .. } => Code::PermissionDenied,
        Refusal::TokenExpired => Code::Unauthenticated,
        // The tool exists but an operator must configure something first.
        // Reading a definition or a confirmation again tells whether the call is still meant, or what was decided.
        Refusal::ToolDisabled { .. }
        | Refusal::DefinitionChanged { .. }
        | Refusal::ConfirmationDecided { .. } => Code::FailedPrecondition,
        Refusal::NoSuchSequence { .. } => Code::OutOfRange,
        Refusal::RequestIdReused { .. } => Code::AlreadyExists,
        // Nothing was started: a client or a mesh may retry after the stated time.
        Refusal::TooManyRequestIds { .. }
        | Refusal::TooManyRequestIdsInAll { .. }
        | Refusal::TooManyConfirmations { .. }
        | Refusal::QuotaExhausted { .. } => Code::ResourceExhausted,
        Refusal::DeadlineExceeded => Code::DeadlineExceeded,
        // The caller is gone, so this status appears only in logs and spans.
        Refusal::CallerGone => Code::Cancelled,
        // Nothing was started here either, but waiting alone may not help; another server may, or a provider's return.
        Refusal::StateUnavailable { .. } | Refusal::ShuttingDown | Refusal::ToolAwaited { .. } => {
            Code::Unavailable
        }
        Refusal::Internal { .. } => Code::Internal,
        Refusal::Document(refusal) => document::code(refusal),
        Refusal::Job(refusal) => job::code(refusal),
        Refusal::Task(refusal) => task::code(refusal),
        Refusal::Turn(refusal) => turn::code(refusal),
    }
}

/// The stable reason of a refusal, as its `google.rpc.ErrorInfo` states it.
pub const fn reason_of(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::InvalidRequest(_) => "INVALID_REQUEST",
        Refusal::UnknownTool { .. } => "UNKNOWN_TOOL",
        Refusal::ToolAwaited { .. } => "TOOL_AWAITED",
        Refusal::UnknownIntent { .. } => "UNKNOWN_INTENT",
        Refusal::PermissionDenied { .. } => "TOOL_NOT_ALLOWED",
        Refusal::InsufficientScope { .. } => INSUFFICIENT_SCOPE,
        Refusal::TokenExpired => "CREDENTIALS_REJECTED",
        Refusal::ToolDisabled { .. } => "TOOL_DISABLED",
        Refusal::RequestIdReused { .. } => "REQUEST_ID_REUSED",
        Refusal::TooManyRequestIds { .. } => "TOO_MANY_REQUEST_IDS",
        Refusal::TooManyRequestIdsInAll { .. } => "TOO_MANY_REQUEST_IDS_IN_ALL",
        Refusal::TooManyConfirmations { .. } => "TOO_MANY_CONFIRMATIONS",
        // As of a source whose limit is reached.
        Refusal::QuotaExhausted { .. } => "RATE_LIMITED",
        Refusal::DefinitionChanged { .. } => "DEFINITION_CHANGED",
        Refusal::UnknownConfirmation { .. } => "UNKNOWN_CONFIRMATION",
        Refusal::UnknownCall { .. } => "UNKNOWN_CALL",
        Refusal::MayNotDecide { .. } => "MAY_NOT_DECIDE",
        Refusal::ConfirmationDecided { .. } => "CONFIRMATION_DECIDED",
        Refusal::NoSuchSequence { .. } => "NO_SUCH_SEQUENCE",
        Refusal::StateUnavailable { .. } => "STATE_UNAVAILABLE",
        Refusal::DeadlineExceeded => "DEADLINE_EXCEEDED",
        Refusal::CallerGone => "CALLER_GONE",
        Refusal::ShuttingDown => "SHUTTING_DOWN",
        Refusal::Internal { .. } => "INTERNAL",
        Refusal::Document(refusal) => document::reason(refusal),
        Refusal::Job(refusal) => job::reason(refusal),
        Refusal::Task(refusal) => task::reason(refusal),
        Refusal::Turn(refusal) => turn::reason(refusal),
    }
}

/// The status of a tool's error on a typed RPC, which has no room for a result.
pub fn of_tool_error(error: &ToolError) -> Status {
    let mut details = bad_request(&error.violations);
    if let Some(retry_after) = error.retry_after {
        details.set_retry_info(Some(retry_after));
    }
    status(code_of(error.code), error.code.into_str(), &error.message, details)
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

/// A status with `ErrorInfo { reason, domain }` beside the other `details`, its message cut to what headers carry.
pub fn status(code: Code, reason: &str, message: &str, details: ErrorDetails) -> Status {
    with_error_info(code, reason, message, details, HashMap::new())
}

fn with_error_info(
    code: Code,
    reason: &str,
    message: &str,
    mut details: ErrorDetails,
    metadata: HashMap<String, String>,
) -> Status {
    details.set_error_info(reason, DOMAIN, metadata);
    Status::with_error_details(code, cut(message), details)
}

/// A status with `ErrorInfo { reason, domain }` and no other detail.
pub fn plain(code: Code, reason: &str, message: &str) -> Status {
    status(code, reason, message, ErrorDetails::new())
}

/// A status with `ErrorInfo { reason, domain }` and a message of ours beside it.
pub fn with_detail<M>(code: Code, reason: &str, message: &str, detail: &M) -> Status
where
    M: prost::Message + prost_reflect::ReflectMessage,
{
    let message = cut(message);
    let plain = plain(code, reason, message);
    let mut whole = pb::Status::decode(plain.details()).unwrap_or_default();
    whole.details.push(prost_types::Any {
        type_url: format!("type.googleapis.com/{}", detail.descriptor().full_name()),
        value: detail.encode_to_vec(),
    });
    Status::with_details(code, message, whole.encode_to_vec().into())
}

/// Truncates a message to what headers carry safely.
pub fn cut(message: &str) -> &str {
    &message[..message.floor_char_boundary(MAX_MESSAGE)]
}

/// The gRPC name of a code: `DEADLINE_EXCEEDED`.
pub const fn name(code: Code) -> &'static str {
    match code {
        Code::Ok => "OK",
        Code::Cancelled => "CANCELLED",
        Code::Unknown => "UNKNOWN",
        Code::InvalidArgument => "INVALID_ARGUMENT",
        Code::DeadlineExceeded => "DEADLINE_EXCEEDED",
        Code::NotFound => "NOT_FOUND",
        Code::AlreadyExists => "ALREADY_EXISTS",
        Code::PermissionDenied => "PERMISSION_DENIED",
        Code::ResourceExhausted => "RESOURCE_EXHAUSTED",
        Code::FailedPrecondition => "FAILED_PRECONDITION",
        Code::Aborted => "ABORTED",
        Code::OutOfRange => "OUT_OF_RANGE",
        Code::Unimplemented => "UNIMPLEMENTED",
        Code::Internal => "INTERNAL",
        Code::Unavailable => "UNAVAILABLE",
        Code::DataLoss => "DATA_LOSS",
        Code::Unauthenticated => "UNAUTHENTICATED",
    }
}

/// The first violations, as many as headers carry.
fn bad_request(violations: &[Violation]) -> ErrorDetails {
    let mut details = ErrorDetails::new();
    let mut remaining = MAX_REPEATED;
    for Violation { pointer, description, .. } in violations {
        let Some(rest) = remaining.checked_sub(pointer.len() + description.len()) else { break };
        remaining = rest;
        details.add_bad_request_violation(pointer, description);
    }
    details
}

fn resource(kind: &str, name: &str) -> ErrorDetails {
    let end = name.floor_char_boundary(MAX_REPEATED);
    ErrorDetails::with_resource_info(kind, &name[..end], "", "")
}

#[cfg(test)]
mod tests {
    use tonic_types::StatusExt;

    use super::*;

    #[test]
    fn a_status_carries_one_error_info() {
        let status = plain(Code::Unavailable, "OVERLOADED", "too many requests");
        assert_eq!(status.get_error_details_vec().len(), 1);
        let info = status.get_details_error_info().unwrap();
        assert_eq!((info.reason.as_str(), info.domain.as_str()), ("OVERLOADED", DOMAIN));
    }

    #[test]
    fn a_status_fits_into_headers_whatever_the_caller_wrote() {
        let long = "x".repeat(1_000_000);
        let violation = |n: usize| Violation {
            pointer: format!("/{n}"),
            rule: "additionalProperties".to_owned(),
            description: format!("unknown parameter `{n}`"),
        };
        let many: Vec<_> = (0..100_000).map(violation).collect();
        for status in [
            Refusal::UnknownTool { name: long.clone(), near: Vec::new() }.into(),
            Refusal::UnknownIntent { intent: long.clone(), near: Vec::new() }.into(),
            Refusal::InvalidRequest(many.clone()).into(),
            of_tool_error(&ToolError::invalid_arguments(many)),
        ] {
            assert!(status.details().len() < 6_000, "{} bytes of details", status.details().len());
            assert!(status.get_details_error_info().is_some());
        }
    }

    #[test]
    fn every_code_has_its_grpc_name() {
        for number in 0..=16 {
            let code = Code::from_i32(number);
            let letters: String = name(code).chars().filter(|c| *c != '_').collect();
            assert_eq!(letters.to_lowercase(), format!("{code:?}").to_lowercase());
        }
    }
}
