//! Transactions over tasks, and their errors.

use crate::{
    Store,
    tasks::{Refused, TaskError, life::State},
};
use toolwire_db::{Database, Durability, Error, Explain, Lane, Scoped, StoreError, Tx};
use toolwire_tool::context::{TaskId, UserId};

/// Why a transaction over tasks was rolled back.
#[derive(Debug)]
pub(super) enum TxError<F = Error> {
    Refused(Refused),
    /// The deadline of the task has passed, and the task is still to be failed.
    Overdue(UserId, TaskId),
    Failed(F),
}

impl From<Refused> for TxError {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

impl From<Error> for TxError {
    fn from(failed: Error) -> Self {
        Self::Failed(failed)
    }
}

impl TxError {
    /// Separates errors of one request from errors of the whole batch.
    pub(super) fn refusal<F>(self) -> Result<TxError<F>, Error> {
        match self {
            Self::Refused(refused) => Ok(TxError::Refused(refused)),
            Self::Overdue(user, id) => Ok(TxError::Overdue(user, id)),
            Self::Failed(failed) => Err(failed),
        }
    }
}

impl Explain for TxError {
    type Public = TxError<StoreError>;

    fn is_conflict(&self) -> bool {
        matches!(self, Self::Failed(error) if error.is_conflict())
    }

    fn explain(self, database: &Database) -> TxError<StoreError> {
        self.refusal().unwrap_or_else(|failed| TxError::Failed(failed.explain(database)))
    }
}

impl From<TxError<StoreError>> for TaskError {
    fn from(error: TxError<StoreError>) -> Self {
        match error {
            TxError::Refused(refused) => refused.into(),
            TxError::Overdue(..) => Refused::Ended(State::Failed).into(),
            TxError::Failed(failed) => failed.into(),
        }
    }
}

impl Store {
    /// Runs a transaction over the tasks of a user.
    pub(super) async fn transact_tasks<'a, T>(
        &self,
        user: &UserId,
        durability: Durability,
        work: impl for<'c> FnMut(&'c mut Tx) -> Scoped<'a, 'c, Result<T, TxError>> + Send,
    ) -> Result<T, TaskError> {
        let done = self.transact(Lane::User(user), durability, work).await;
        self.fail_if_overdue(done).await
    }

    /// The same for a transaction that records how something ended that has begun.
    pub(super) async fn record_tasks<'a, T>(
        &self,
        user: &UserId,
        durability: Durability,
        work: impl for<'c> FnMut(&'c mut Tx) -> Scoped<'a, 'c, Result<T, TxError>> + Send,
    ) -> Result<T, TaskError> {
        Ok(self.record(Lane::User(user), durability, work).await?)
    }

    /// Fails a task that a transaction found overdue. That transaction was rolled back, so this takes another; the
    /// caller is refused either way.
    pub(super) async fn fail_if_overdue<T>(
        &self,
        done: Result<T, TxError<StoreError>>,
    ) -> Result<T, TaskError> {
        if let Err(TxError::Overdue(user, id)) = &done {
            self.fail_overdue(user, id).await?;
        }
        Ok(done?)
    }
}
