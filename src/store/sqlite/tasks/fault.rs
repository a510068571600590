//! Why a step of a change of tasks stops: it is refused, or it failed. Nothing is changed then.

use crate::{StoreError, sqlite::Failed, tasks::Refused};

/// Why a step stops.
#[derive(Debug)]
pub(in crate::sqlite) enum Fault {
    /// It is not allowed.
    Refused(Refused),
    /// The task's deadline has passed, and the task is to be failed first.
    Overdue,
    /// It did not succeed.
    Failed(Failed),
}

impl From<Refused> for Fault {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

impl From<Failed> for Fault {
    fn from(failed: Failed) -> Self {
        Self::Failed(failed)
    }
}

impl From<sqlx::Error> for Fault {
    fn from(error: sqlx::Error) -> Self {
        Self::Failed(error.into())
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Failed(error.into())
    }
}

/// A row does not say what it should.
pub(super) fn unreadable(what: &'static str, cause: impl Into<String>) -> Failed {
    Failed::Store(StoreError::Unreadable { what, cause: cause.into() })
}
