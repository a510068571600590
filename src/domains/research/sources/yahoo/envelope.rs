//! The envelope of every document: a result or an error, whatever the status says.

use serde::Deserialize;

use crate::upstream::http::{Failure, FailureKind};

/// A result or an error.
#[derive(Debug, Deserialize)]
pub(super) struct Envelope<T> {
    result: Option<Vec<T>>,
    error: Option<Fault>,
}

#[derive(Debug, Deserialize)]
struct Fault {
    code: Option<String>,
    description: Option<String>,
}

impl<T> Envelope<T> {
    /// The results; of an unknown symbol there are none.
    pub(super) fn open(self) -> Result<Vec<T>, Failure> {
        match self.error {
            Some(fault) => Err(fault.into()),
            None => Ok(self.result.unwrap_or_default()),
        }
    }

    /// The one result.
    pub(super) fn only(self) -> Result<T, Failure> {
        let first = self.open()?.into_iter().next();
        first.ok_or_else(|| Failure::new(FailureKind::NotFound, "an envelope without a result"))
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        let kind = match fault.code.as_deref() {
            Some("Not Found") => FailureKind::NotFound,
            Some("Unauthorized") => FailureKind::AuthFailed,
            Some("Too Many Requests") => FailureKind::RateLimited,
            Some("Internal Server Error") => FailureKind::Down,
            _ => FailureKind::Malformed,
        };
        let Fault { code, description } = fault;
        Self::new(kind, format!("{}: {}", code.unwrap_or_default(), description.unwrap_or_default()))
    }
}
