//! The error of a tool: one taxonomy for every tool and source.
//!
//! Not here: failures of the call itself, which become statuses (`refusal`).

use std::time::Duration;

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

/// What to do if a call needs a task. Clients of the API have no shell: the command line adds its own advice.
pub const CREATE_TASK: &str =
    "create a task with CreateTask (POST /v1/tasks), and name it in context.task_id";

/// Why a call has no data.
///
/// `message` is read by agents and by people: what went wrong and what may help, no internals. What only a model
/// should do is `advice`; what an operator needs goes to the log and the span, found by `call_id`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("{}: {message}", code.into_str())]
pub struct ToolError {
    /// What kind of failure it is.
    pub code: ErrorCode,
    /// What went wrong and what may help.
    pub message: String,
    /// Whether the same call may succeed later.
    pub retryable: bool,
    /// How long to wait before calling again, if known.
    pub retry_after: Option<Duration>,
    /// Where the failure arose.
    pub origin: Origin,
    /// Every rule that the arguments break.
    pub violations: Vec<Violation>,
    /// How many requests were made to the source.
    pub attempts: u32,
}

/// The kinds of failure.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, EnumString, IntoStaticStr, VariantArray,
)]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE", const_into_str)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ErrorCode {
    /// A failure without a known kind.
    Unknown,
    /// The source's limit is reached.
    RateLimited,
    /// What the arguments name does not exist.
    NotFound,
    /// The tool did not finish within its own time-out.
    Timeout,
    /// The source refused our credentials.
    AuthFailed,
    /// The source refuses to serve us.
    Blocked,
    /// The source answered with something that cannot be read.
    ParseError,
    /// The arguments break the input schema.
    InvalidArgument,
    /// The user may not call a tool that this tool calls.
    PermissionDenied,
    /// The call was cancelled.
    Cancelled,
    /// The source or a part of the service is not available now.
    Unavailable,
    /// The state of the target does not allow the change.
    Conflict,
    /// The data is larger than a client accepts.
    ResultTooLarge,
    /// A person denied the call.
    ConfirmationDenied,
    /// No person decided on the call in time.
    ConfirmationExpired,
    /// A write was started and its end is not known.
    OutcomeUnknown,
}

/// Where a failure arose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    Caller,
    Tool,
    /// In the source the tool reads from.
    Source,
    Service,
}

/// One rule that the arguments break.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Violation {
    /// JSON pointer to the offending value, spelled as the caller wrote it.
    pub pointer: String,
    /// The JSON Schema keyword that is broken.
    pub rule: String,
    /// What was expected and, where one is near, what was probably meant.
    pub description: String,
}

impl ToolError {
    /// A failure of the given kind, with the kind's usual `retryable` and origin.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        let (retryable, origin) = code.usual();
        Self {
            code,
            message: message.into(),
            retryable,
            retry_after: None,
            origin,
            violations: Vec::new(),
            attempts: 0,
        }
    }

    /// What the arguments name does not exist.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::NotFound, message)
    }

    /// The call was cancelled. Clients compare these words.
    pub fn cancelled() -> Self {
        Self::new(ErrorCode::Cancelled, "Request was cancelled")
    }

    /// The arguments break the given rules.
    pub fn invalid_arguments(violations: Vec<Violation>) -> Self {
        let message = match violations.as_slice() {
            [one] => format!("Invalid arguments: {}", one.description),
            many => format!(
                "Invalid arguments ({} problems): {}",
                many.len(),
                many.iter().map(|v| v.description.as_str()).collect::<Vec<_>>().join("; ")
            ),
        };
        Self { violations, ..Self::new(ErrorCode::InvalidArgument, message) }
    }

    /// The same failure, stating when to call again.
    pub fn with_retry_after(self, retry_after: Duration) -> Self {
        Self { retry_after: Some(retry_after), ..self }
    }

    /// What a model should do. Stands apart from the message, which people read too.
    pub const fn advice(&self) -> Option<&'static str> {
        self.code.advice(self.retryable)
    }

    /// The same failure, stating where it arose.
    pub fn with_origin(self, origin: Origin) -> Self {
        Self { origin, ..self }
    }
}

impl ErrorCode {
    /// What a model should do after such a failure, which may be worth a retry.
    pub const fn advice(self, retryable: bool) -> Option<&'static str> {
        match (self, retryable) {
            (Self::AuthFailed | Self::Blocked, _) => Some("Stop and tell the user."),
            (Self::Timeout, true) => Some("Try once more, then go on without it."),
            (Self::RateLimited | Self::Unavailable, true) => Some("Try again later, or go on without it."),
            (Self::ParseError | Self::Unavailable, _) => Some("Go on without it."),
            (Self::NotFound, _) => Some("Correct the name, or go on without it."),
            (Self::ConfirmationExpired, _) => Some("Ask the user, then call again under a new request_id."),
            _ => None,
        }
    }

    /// Whether such a failure is usually worth a retry, and where it usually arises.
    pub const fn usual(self) -> (bool, Origin) {
        match self {
            Self::RateLimited => (true, Origin::Source),
            Self::Timeout => (true, Origin::Tool),
            Self::Unavailable | Self::OutcomeUnknown => (true, Origin::Service),
            Self::AuthFailed | Self::Blocked | Self::ParseError => (false, Origin::Source),
            Self::Unknown | Self::Conflict | Self::ResultTooLarge => (false, Origin::Tool),
            Self::NotFound
            | Self::InvalidArgument
            | Self::PermissionDenied
            | Self::Cancelled
            | Self::ConfirmationDenied
            | Self::ConfirmationExpired => (false, Origin::Caller),
        }
    }

    /// Whether a repeat of a write that failed so meets this failure. Otherwise nothing was done, and it is another
    /// attempt.
    pub const fn is_final(self) -> bool {
        !matches!(self, Self::RateLimited | Self::Unavailable | Self::Cancelled)
    }
}
