//! Why a stream of a host ends, and the status for it.

use std::time::Duration;

use tonic::{Code, Status};

use crate::bounds::{MAX_NAMES, MAX_SLOTS_OF_PROVIDER, PROTOCOL};
use toolwire_contract::status;
use toolwire_providers::bounds::{MAX_MESSAGE, REMOVED_AFTER};

/// Why the server ends a stream.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum End {
    /// The host half-closed a slot that leaves, as it should.
    #[error("the slot has left")]
    Left,
    #[error("{0}")]
    Violation(String),
    #[error("protocol {0} is not known; this server speaks {PROTOCOL}")]
    UnknownProtocol(u32),
    #[error("these credentials are of the provider `{own}`, and the host says it is `{stated}`")]
    WrongProvider { own: String, stated: String },
    /// Why a host without credentials may not have the name that it states.
    #[error("a host without a token may not be `{stated}`: {why}")]
    WrongName { stated: String, why: String },
    /// Another program has the name. `lost` is how long ago its last slot was lost.
    #[error(
        "the provider `{provider}` is another program, {}{}. Give this one a name of its own, as \
         serve(provider=\"NAME\") does, or let it replace the other's tools by serve(provider=\"{provider}\")",
        program(holder), lost.map(lost_ago).unwrap_or_default()
    )]
    ProviderHeld { provider: String, holder: String, lost: Option<Duration> },
    #[error("hosts without a token have at most {MAX_NAMES} names at a time")]
    TooManyNames,
    /// The reasons by tool.
    #[error("none of the host's tools can be served: {0}")]
    NothingServed(String),
    #[error("a provider has at most {MAX_SLOTS_OF_PROVIDER} slots, and all providers {0}")]
    TooManySlots(usize),
    #[error("{0}")]
    Idle(&'static str),
    #[error("a message has at most {MAX_MESSAGE} bytes")]
    MessageTooLarge,
    #[error("the server ends")]
    ShuttingDown,
    /// The connection is gone, or the host reset the stream: there is no reader of a status.
    #[error("the stream is lost")]
    Lost,
}

impl End {
    pub(crate) fn violation(what: impl Into<String>) -> Self {
        Self::Violation(what.into())
    }

    /// The status of the stream. `None` where it ends with OK.
    pub fn status(&self) -> Option<Status> {
        let (code, reason) = match self {
            Self::Left => return None,
            Self::Violation(_) => (Code::InvalidArgument, "PROTOCOL_VIOLATION"),
            Self::UnknownProtocol(_) => (Code::FailedPrecondition, "UNKNOWN_PROTOCOL"),
            Self::WrongProvider { .. } | Self::WrongName { .. } => (Code::PermissionDenied, "WRONG_PROVIDER"),
            Self::ProviderHeld { .. } => (Code::FailedPrecondition, "PROVIDER_HELD"),
            Self::NothingServed(_) => (Code::FailedPrecondition, "CATALOGUE_REFUSED"),
            Self::TooManySlots(_) | Self::TooManyNames => (Code::ResourceExhausted, "TOO_MANY_SLOTS"),
            Self::Idle(_) => (Code::DeadlineExceeded, "STREAM_IDLE"),
            Self::MessageTooLarge => (Code::ResourceExhausted, "MESSAGE_TOO_LARGE"),
            Self::ShuttingDown => (Code::Unavailable, "SHUTTING_DOWN"),
            Self::Lost => (Code::Unavailable, "STREAM_LOST"),
        };
        Some(status::plain(code, reason, &self.to_string()))
    }
}

fn program(holder: &str) -> &str {
    if holder.is_empty() { "which does not say where it is" } else { holder }
}

fn lost_ago(lost: Duration) -> String {
    let left = REMOVED_AFTER.saturating_sub(lost).as_secs();
    format!(", which was lost {} s ago and keeps the name for {left} s", lost.as_secs())
}
