//! Whether the database answers. Statements end when it does not, rather than wait for it.

use std::{error::Error, future::Future, io};

use tokio::{select, sync::watch};

/// Becomes `true` while the database does not answer. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Reachability(watch::Receiver<bool>);

impl Reachability {
    pub(crate) fn new() -> (watch::Sender<bool>, Self) {
        let (sender, receiver) = watch::channel(false);
        (sender, Self(receiver))
    }

    pub(crate) fn is_unreachable(&self) -> bool {
        *self.0.borrow()
    }

    /// Runs work on the database until it ends or the database does not answer.
    pub(crate) async fn run<T, E: From<sqlx::Error>>(
        &self,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        let mut receiver = self.0.clone();
        select! {
            biased;
            done = work => done,
            Ok(_) = receiver.wait_for(|is_unreachable| *is_unreachable) => Err(unreachable_error().into()),
        }
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the database does not answer")]
struct Unreachable;

/// The error of a database that does not answer.
pub(crate) fn unreachable_error() -> sqlx::Error {
    sqlx::Error::Io(io::Error::new(io::ErrorKind::TimedOut, Unreachable))
}

/// Whether an error is that one, and so says nothing of its cause.
pub(crate) fn is_unreachable_error(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::Io(error) if error.get_ref().is_some_and(<dyn Error + Send + Sync>::is::<Unreachable>))
}
