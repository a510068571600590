//! Failures of sources: one taxonomy for every source, translated once.

use std::time::Duration;

use super::text::Line;
use toolwire_contract::{ErrorCode, Origin, ToolError};
use toolwire_tool::context::Unfinished;

/// A request to a source failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind:?}: {detail}")]
pub struct Failure {
    pub kind: FailureKind,
    /// What happened, for operators: goes to the log, never to a caller. It may quote what came.
    pub detail: Line,
    /// The words for the agent, where the kind's usual words do not say it.
    pub message: Option<String>,
    /// When asking again may help, if the source or our limits say so.
    pub retry_after: Option<Duration>,
    /// The source. Empty until the stack fills it in.
    pub source_title: &'static str,
    /// How many requests were made to the source by this call so far.
    pub attempts: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum FailureKind {
    /// One attempt took too long. Retried once.
    TimedOut,
    /// No connection, or it broke. Retried twice.
    Unreachable,
    /// A 5xx, or words to that effect. Retried twice.
    Down,
    /// A 429, or words to that effect. Waited for, and retried once.
    RateLimited,
    /// Rejected by our own limiter: the wait would pass the deadline. Never retried.
    OverBudget,
    /// Not asked, since the state that counts the requests of all servers does not answer. Never retried.
    Uncounted,
    /// There is no such thing. Never retried.
    NotFound,
    /// Our credentials are refused. Never retried; begins a cool-down.
    AuthFailed,
    /// We are refused. Never retried; begins a cool-down.
    Blocked,
    /// An answer that cannot be read. Never retried.
    Malformed,
    /// The call's time is up.
    OutOfTime,
    /// The call was cancelled.
    Cancelled,
    /// The service itself lacks something, such as credentials that are not configured.
    NotConfigured,
}

impl Failure {
    /// A failure, with what happened for operators.
    pub fn new(kind: FailureKind, detail: impl AsRef<str>) -> Self {
        Self {
            kind,
            detail: Line::of(detail.as_ref()),
            message: None,
            retry_after: None,
            source_title: "",
            attempts: 0,
        }
    }

    /// An answer that cannot be read.
    pub fn malformed(detail: impl AsRef<str>) -> Self {
        Self::new(FailureKind::Malformed, detail)
    }

    /// The call was cancelled.
    pub(super) fn cancelled() -> Self {
        Self::new(FailureKind::Cancelled, "the call was cancelled")
    }

    /// The message, which agents and people read.
    pub(super) fn words(&self, source: &str) -> String {
        self.message.clone().unwrap_or_else(|| self.kind.words(source))
    }

    /// The same failure with its own words.
    pub fn with_message(self, message: impl Into<String>) -> Self {
        Self { message: Some(message.into()), ..self }
    }

    /// The same failure, stating when asking again may help.
    pub fn with_retry_after(self, retry_after: Option<Duration>) -> Self {
        Self { retry_after, ..self }
    }
}

impl FailureKind {
    /// The code that a caller sees.
    pub const fn code(self) -> ErrorCode {
        match self {
            Self::TimedOut | Self::OutOfTime => ErrorCode::Timeout,
            Self::Unreachable | Self::Down | Self::NotConfigured | Self::Uncounted => ErrorCode::Unavailable,
            Self::RateLimited | Self::OverBudget => ErrorCode::RateLimited,
            Self::NotFound => ErrorCode::NotFound,
            Self::AuthFailed => ErrorCode::AuthFailed,
            Self::Blocked => ErrorCode::Blocked,
            Self::Malformed => ErrorCode::ParseError,
            Self::Cancelled => ErrorCode::Cancelled,
        }
    }

    /// Whether the source is left alone for a while after it.
    pub const fn begins_cool_down(self) -> bool {
        matches!(self, Self::AuthFailed | Self::Blocked)
    }

    fn words(self, source: &str) -> String {
        match self {
            Self::TimedOut => format!("{source} did not answer in time."),
            Self::Unreachable => format!("{source} cannot be reached now."),
            Self::Down => format!("{source} is down."),
            Self::RateLimited | Self::OverBudget => format!("{source} accepts no more requests for now."),
            Self::Uncounted => {
                format!("{source} is not asked now, since the requests of all servers cannot be counted.")
            }
            Self::NotFound => format!("{source} knows nothing of that."),
            Self::AuthFailed => format!("{source} refuses the configured credentials."),
            Self::Blocked => format!("{source} is blocking requests."),
            Self::Malformed => format!("{source} answered with something that cannot be read."),
            Self::OutOfTime => format!("The time of the call ran out while {source} was asked."),
            Self::Cancelled => "Request was cancelled".to_owned(),
            Self::NotConfigured => format!("{source} is not configured."),
        }
    }
}

impl From<Failure> for ToolError {
    fn from(failure: Failure) -> Self {
        let Failure { kind, retry_after, source_title, attempts, .. } = failure;
        let source = if source_title.is_empty() { "The source" } else { source_title };
        let origin = match kind {
            FailureKind::NotConfigured
            | FailureKind::OverBudget
            | FailureKind::Uncounted
            | FailureKind::OutOfTime => Origin::Service,
            FailureKind::Cancelled => Origin::Caller,
            _ => Origin::Source,
        };
        let error = ToolError::new(kind.code(), failure.words(source));
        Self {
            retryable: error.retryable && kind != FailureKind::NotConfigured,
            retry_after,
            attempts,
            ..error.with_origin(origin)
        }
    }
}

impl From<Failure> for Unfinished {
    fn from(failure: Failure) -> Self {
        ToolError::from(failure).into()
    }
}
