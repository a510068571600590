//! Polls the file's version, while there is a follower, and notifies followers of commits of other processes.

use std::time::Duration;

use sqlx::SqlitePool;
use tokio::time::sleep;

use crate::{Error, followers::Followers};

/// The interval at which the file is polled, which bounds the delay of notifications of other processes' commits.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Starts to poll, unless a poll is running. One connection polls for all, since `data_version` is specific to a
/// connection.
pub(crate) fn start(readers: &SqlitePool, followers: &Followers) {
    if followers.begin_poll() {
        tokio::spawn(poll_while_followed(readers.clone(), followers.clone()));
    }
}

async fn poll_while_followed(readers: SqlitePool, followers: Followers) {
    loop {
        if poll(&readers, &followers).await.is_err() {
            // The file cannot be read now: notify at a longer interval.
            sleep(POLL_INTERVAL * 20).await;
            followers.notify_all();
            if followers.is_any() {
                continue;
            }
        }
        followers.end_poll();
        // A follower that was added just now relies on this loop.
        if !followers.is_any() || !followers.begin_poll() {
            break;
        }
    }
}

/// Polls whether another connection has changed the file, until there is no follower.
async fn poll(readers: &SqlitePool, followers: &Followers) -> Result<(), Error> {
    let mut connection = readers.acquire().await?;
    let mut seen: Option<i64> = None;
    while followers.is_any() {
        let version = sqlx::query_scalar("PRAGMA data_version").fetch_one(&mut *connection).await?;
        // Also on the first poll: a commit may lie between a follower's read and this poll.
        if seen != Some(version) {
            followers.notify_all();
        }
        seen = Some(version);
        sleep(POLL_INTERVAL).await;
    }
    Ok(())
}
