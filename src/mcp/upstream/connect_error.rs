//! Why there is no connection to an MCP server, or none that serves.

use std::{fmt, io, time::Duration};

use rmcp::{ServiceError, service::ClientInitializeError, transport::DynamicTransportError};

use super::{
    bounds::CONNECT,
    error_words::words,
    http::{Failure, failure_of},
};

#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub struct ConnectError {
    what: String,
    kind: Kind,
    retry_after: Option<Duration>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Nothing is there, or it takes no requests.
    Unreached,
    /// The server answered by an error of JSON-RPC.
    Answered,
    /// The server answered by a status that is no success.
    Refused,
    Other,
}

impl ConnectError {
    fn new(kind: Kind, what: impl Into<String>) -> Self {
        Self { what: what.into(), kind, retry_after: None }
    }

    pub(super) fn start(error: &io::Error) -> Self {
        Self::new(Kind::Unreached, format!("the program cannot be started: {error}"))
    }

    pub(super) fn timed_out() -> Self {
        Self::new(Kind::Other, format!("it did not answer within {} s", CONNECT.as_secs()))
    }

    /// With the last line of a process's standard error.
    pub(super) fn of_handshake(error: &ClientInitializeError, last_line: Option<String>) -> Self {
        let error = match error {
            ClientInitializeError::LegacyFallbackFailed { fallback, .. } => fallback,
            error => error,
        };
        let error = match error {
            ClientInitializeError::TransportError { error: transport, .. } => {
                Self::of_transport(transport, || words(error))
            }
            ClientInitializeError::JsonRpcError(_) => Self::new(Kind::Answered, words(error)),
            error => Self::new(Kind::Other, words(error)),
        };
        match last_line {
            Some(line) => Self { what: format!("{}; it wrote: {line}", error.what), ..error },
            None => error,
        }
    }

    pub(super) fn list(what: impl fmt::Display) -> Self {
        Self::new(Kind::Other, format!("it does not list its tools: {what}"))
    }

    pub(super) fn of_list(error: &ServiceError) -> Self {
        let error = match error {
            ServiceError::TransportSend(transport) => Self::of_transport(transport, || words(error)),
            ServiceError::McpError(_) => Self::new(Kind::Answered, words(error)),
            error => Self::new(Kind::Other, words(error)),
        };
        Self { what: format!("it does not list its tools: {}", error.what), ..error }
    }

    fn of_transport(error: &DynamicTransportError, otherwise: impl FnOnce() -> String) -> Self {
        let Some(failure) = failure_of(error) else { return Self::new(Kind::Other, otherwise()) };
        let kind = match failure {
            failure if failure.is_of_server() => Kind::Unreached,
            Failure::Refused(_) => Kind::Refused,
            _ => Kind::Other,
        };
        let retry_after = if let Failure::Refused(it) = failure { it.retry_after } else { None };
        Self { retry_after, ..Self::new(kind, failure.to_string()) }
    }

    /// Whether it may be that the server does not take the probe of the newer revision.
    pub(super) fn may_be_of_probe(&self) -> bool {
        self.kind != Kind::Unreached
    }

    /// Whether the server answered what it was asked, by a refusal.
    pub(super) fn is_refusal(&self) -> bool {
        matches!(self.kind, Kind::Answered | Kind::Refused)
    }

    /// How long the server asks to wait.
    pub(super) fn retry_after(&self) -> Duration {
        self.retry_after.unwrap_or_default()
    }
}
