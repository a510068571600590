//! Connections that read a page for one user. Permits are divided fairly among users, so that one with many reads does
//! not starve others.

use std::{
    ops::{Deref, DerefMut},
    time::Duration,
};

use tokio::time::timeout;

use crate::{Error, StoreError, backend::Backend, sql::Connection, sqlite::connect::READERS};
use toolwire_base::fair_semaphore::{FairSemaphore, Permit};
use toolwire_tool::context::UserId;

/// Maximum number of concurrent reads per user.
const MAX_READS_PER_USER: usize = 2;

/// Maximum wait for a permit.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) fn permits() -> FairSemaphore<UserId> {
    FairSemaphore::new(READERS as usize, MAX_READS_PER_USER)
}

/// A connection that reads for one user.
#[derive(Debug)]
pub struct UserReader {
    connection: Connection,
    /// Released with the connection.
    _permit: Permit<UserId>,
}

/// Acquires a permit of the user's first, so that waiting users hold no connection.
pub(crate) async fn acquire(
    backend: &Backend,
    permits: &FairSemaphore<UserId>,
    user: &UserId,
) -> Result<UserReader, Error> {
    let permit =
        timeout(ACQUIRE_TIMEOUT, permits.acquire(Some(user))).await.map_err(|_| StoreError::Crowded)?;
    Ok(UserReader { connection: backend.reader().await?, _permit: permit })
}

impl Deref for UserReader {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}

impl DerefMut for UserReader {
    fn deref_mut(&mut self) -> &mut Connection {
        &mut self.connection
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;
    use crate::{
        Database, Migrations,
        sql::{Statement, sql},
        sqlite::connect::FOLLOWERS,
    };

    fn user(name: &str) -> UserId {
        name.parse().unwrap()
    }

    #[tokio::test]
    async fn one_user_has_at_most_half_of_the_connections() {
        let directory = tempfile::tempdir().unwrap();
        let state = Database::at(directory.path(), Migrations::none());
        let _held =
            [state.reader_for(&user("a")).await.unwrap(), state.reader_for(&user("a")).await.unwrap()];
        assert!(state.reader_for(&user("a")).now_or_never().is_none());
        let mut other = state.reader_for(&user("b")).await.unwrap();
        let one: Statement<i64> = sql!("SELECT 1");
        assert_eq!(one.one(&mut other).await.unwrap(), 1);
    }

    #[tokio::test]
    async fn a_lack_of_connections_is_no_failure_of_the_state() {
        let directory = tempfile::tempdir().unwrap();
        let state = Database::at(directory.path(), Migrations::none());
        let mut held = Vec::new();
        let all = READERS + FOLLOWERS;
        for _ in 0..all {
            held.push(state.reader().await.unwrap());
        }
        tokio::time::pause();
        let crowded = state.explain(state.reader_for(&user("a")).await).unwrap_err();
        assert!(matches!(crowded, StoreError::Crowded), "{crowded:?}");
        assert!(matches!(state.reader().await.unwrap_err(), StoreError::Crowded));
        assert_eq!(*state.last_error().borrow(), None);
    }
}
