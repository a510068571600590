//! The envelope of every document: a result or an error, whatever the status says.

use serde::Deserialize;

use crate::upstream::{
    http::{Failure, FailureKind},
    text::Line,
};

/// A result or an error.
#[derive(Debug, Deserialize)]
pub(super) struct Envelope<T> {
    result: Option<Vec<T>>,
    error: Option<Fault>,
}

#[derive(Debug, Deserialize)]
struct Fault {
    code: Option<Line>,
    description: Option<Line>,
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

/// How Yahoo says that a symbol was not traded in the days asked for, with 400.
const NO_DATA: &str = "Data doesn't exist for startDate";

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        let has_no_data = fault.description.as_ref().is_some_and(|words| words.starts_with(NO_DATA));
        let kind = match fault.code.as_deref() {
            _ if has_no_data => FailureKind::NotFound,
            Some("Not Found") => FailureKind::NotFound,
            Some("Unauthorized") => FailureKind::AuthFailed,
            Some("Too Many Requests") => FailureKind::RateLimited,
            Some("Internal Server Error") => FailureKind::Down,
            _ => FailureKind::Malformed,
        };
        let Fault { code, description } = fault;
        let detail = format!("{}: {}", code.unwrap_or_default(), description.unwrap_or_default());
        let failure = Self::new(kind, detail);
        if has_no_data {
            return failure.saying("Yahoo Finance has no prices of the days asked for. Ask for others.");
        }
        failure
    }
}
