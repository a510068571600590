//! Connections that read a page for one user: a few at once of one user, and in turn of all, so that whoever reads much
//! keeps nobody else from reading.

use std::{
    ops::{Deref, DerefMut},
    time::Duration,
};

use sqlx::{SqliteConnection, SqlitePool, pool::PoolConnection};
use tokio::time::timeout;

use super::{Failed, connect::READERS};
use crate::StoreError;
use toolwire_base::fair_semaphore::{FairSemaphore, Permit};
use toolwire_tool::context::UserId;

/// So many pages are read at once for one user.
const OF_USER: usize = 2;

/// How long one waits for one's turn.
const WAIT: Duration = Duration::from_secs(10);

pub(super) fn turns() -> FairSemaphore<UserId> {
    FairSemaphore::new(READERS as usize, OF_USER)
}

/// A connection that reads for one user.
#[derive(Debug)]
pub(super) struct Reading {
    connection: PoolConnection<sqlx::Sqlite>,
    /// Over when the connection is given back.
    _turn: Permit,
}

/// One of the connections, when it is the user's turn.
pub(super) async fn reading(
    readers: &SqlitePool,
    turns: &FairSemaphore<UserId>,
    user: &UserId,
) -> Result<Reading, Failed> {
    let turn = timeout(WAIT, turns.acquire(Some(user))).await;
    let turn = turn.map_err(|_| StoreError::Crowded)?;
    Ok(Reading { connection: readers.acquire().await?, _turn: turn })
}

impl Deref for Reading {
    type Target = SqliteConnection;

    fn deref(&self) -> &SqliteConnection {
        &self.connection
    }
}

impl DerefMut for Reading {
    fn deref_mut(&mut self) -> &mut SqliteConnection {
        &mut self.connection
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::{super::connect::FOLLOWERS, *};
    use crate::Sqlite;

    fn user(name: &str) -> UserId {
        name.parse().unwrap()
    }

    #[tokio::test]
    async fn one_user_has_at_most_half_of_the_connections() {
        let directory = tempfile::tempdir().unwrap();
        let state = Sqlite::at(directory.path());
        let _held = [state.reading(&user("a")).await.unwrap(), state.reading(&user("a")).await.unwrap()];
        assert!(state.reading(&user("a")).now_or_never().is_none());
        let mut other = state.reading(&user("b")).await.unwrap();
        let one: i64 = sqlx::query_scalar("SELECT 1").fetch_one(&mut *other).await.unwrap();
        assert_eq!(one, 1);
    }

    #[tokio::test]
    async fn a_lack_of_connections_is_no_failure_of_the_state() {
        let directory = tempfile::tempdir().unwrap();
        let state = Sqlite::at(directory.path());
        let mut held = Vec::new();
        let all = READERS + FOLLOWERS;
        for _ in 0..all {
            held.push(state.readers().await.unwrap().acquire().await.unwrap());
        }
        tokio::time::pause();
        let crowded = state.explain(state.reading(&user("a")).await).unwrap_err();
        assert!(matches!(crowded, StoreError::Crowded), "{crowded:?}");
        let crowded = state.readers().await.unwrap().acquire().await.map_err(Failed::from);
        assert!(matches!(state.explain(crowded).unwrap_err(), StoreError::Crowded));
        assert_eq!(*state.last_error().borrow(), None);
    }
}
