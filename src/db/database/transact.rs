//! Transactions as closures, so that an engine that rolls one back may run it again.

use std::{fmt, future::Future, marker::PhantomData};

use futures_util::future::BoxFuture;

use super::Database;
use crate::{Durability, Error, Lane, StoreError, Tx, postgres};
use toolwire_telemetry::metric;

/// The future of a transaction. It borrows from the environment of the closure for `'a` and from the transaction for
/// `'c`; the compiler does not accept an async closure that does both as `Send`.
pub struct Scoped<'a, 'c, T>(BoxFuture<'c, T>, PhantomData<&'c &'a ()>);

impl<T> fmt::Debug for Scoped<'_, '_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scoped")
    }
}

/// How often a transaction runs that the database rolls back because of others.
const MAX_RUNS: u32 = 5;

/// Boxes the future of a transaction.
pub fn scoped<'a, 'c, T>(work: impl Future<Output = T> + Send + 'c) -> Scoped<'a, 'c, T> {
    Scoped(Box::pin(work), PhantomData)
}

/// An error that rolls a transaction back, and its conversion for callers of the database.
pub trait Explain: From<Error> + Send {
    type Public;

    /// Whether the database rolled the transaction back because of others, so that it may run again.
    fn is_conflict(&self) -> bool;

    /// Converts an error of the database into one for operators, and records that the database cannot be used.
    fn explain(self, database: &Database) -> Self::Public;
}

impl Explain for Error {
    type Public = StoreError;

    fn is_conflict(&self) -> bool {
        matches!(self, Self::Database(error) if postgres::is_conflict(error))
    }

    fn explain(self, database: &Database) -> StoreError {
        match self {
            Self::Store(error) => error,
            Self::Database(error) => database.unusable(&error),
            Self::Shared(error) => database.unusable(&error),
        }
    }
}

impl Database {
    /// Runs a transaction, and commits it if it returns `Ok`; otherwise it is rolled back. The commit may be shared
    /// with others. No other process can write while it runs, so it must await nothing but the database. It may run
    /// more than once, so it must have no effect outside the database. Fails while the clock cannot be relied on.
    pub async fn transact<'a, T, E: Explain>(
        &self,
        lane: Lane<'_>,
        durability: Durability,
        work: impl for<'c> FnMut(&'c mut Tx) -> Scoped<'a, 'c, Result<T, E>> + Send,
    ) -> Result<T, E::Public> {
        self.run((lane, durability), true, work).await
    }

    /// The same for a transaction that decides nothing by the clock, such as one that records how something ended that
    /// has begun.
    pub async fn record<'a, T, E: Explain>(
        &self,
        lane: Lane<'_>,
        durability: Durability,
        work: impl for<'c> FnMut(&'c mut Tx) -> Scoped<'a, 'c, Result<T, E>> + Send,
    ) -> Result<T, E::Public> {
        self.run((lane, durability), false, work).await
    }

    async fn run<'a, T, E: Explain>(
        &self,
        of: (Lane<'_>, Durability),
        decides_by_clock: bool,
        mut work: impl for<'c> FnMut(&'c mut Tx) -> Scoped<'a, 'c, Result<T, E>> + Send,
    ) -> Result<T, E::Public> {
        let mut runs = 1;
        loop {
            let run = async {
                let mut tx = self.begin(of, decides_by_clock).await?;
                let value = work(&mut tx).0.await?;
                let (topics, effects) = (tx.take_topics(), tx.take_effects());
                tx.commit().await?;
                // After the commit: a follower that is notified reads at once, and must find the change.
                topics.for_each(|topic| self.followers.notify(topic));
                effects.for_each(|effect| effect());
                Ok(value)
            };
            match run.await {
                Err(error) if runs < MAX_RUNS && E::is_conflict(&error) => {
                    runs += 1;
                    metric::state_retried();
                }
                done => return done.map_err(|error| error.explain(self)),
            }
        }
    }
}
