//! Why a stream of a host ends, and the status for it.

use tonic::{Code, Status};

use crate::bounds::{MAX_SLOTS_OF_PROVIDER, PROTOCOL};
use toolwire_contract::status;
use toolwire_providers::bounds::MAX_MESSAGE;

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
            Self::WrongProvider { .. } => (Code::PermissionDenied, "WRONG_PROVIDER"),
            Self::NothingServed(_) => (Code::FailedPrecondition, "CATALOGUE_REFUSED"),
            Self::TooManySlots(_) => (Code::ResourceExhausted, "TOO_MANY_SLOTS"),
            Self::Idle(_) => (Code::DeadlineExceeded, "STREAM_IDLE"),
            Self::MessageTooLarge => (Code::ResourceExhausted, "MESSAGE_TOO_LARGE"),
            Self::ShuttingDown => (Code::Unavailable, "SHUTTING_DOWN"),
            Self::Lost => (Code::Unavailable, "STREAM_LOST"),
        };
        Some(status::plain(code, reason, &self.to_string()))
    }
}
