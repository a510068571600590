//! Notifies followers of commits: immediately of commits of this process, and by polling the file's version, while
//! there is a follower, of those of other processes.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::Duration,
};

use sqlx::SqlitePool;
use tokio::{sync::watch, time::sleep};

use crate::Error;

/// The interval at which the file is polled, which bounds the delay of notifications of other processes' commits.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The kind of rows that a follower reads when it is notified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Topic {
    Tasks,
    Jobs,
    AcceptedTools,
    /// Records of calls of other processes, and their cancellation requests. Never notified by commits of this process.
    Elsewhere,
}

/// The followers, by topic. Cheap to clone; clones share state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Followers(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    tasks: watch::Sender<u64>,
    jobs: watch::Sender<u64>,
    accepted_tools: watch::Sender<u64>,
    elsewhere: watch::Sender<u64>,
    /// Whether the file is polled. One connection polls for all, since `data_version` is specific to a connection.
    is_polling: AtomicBool,
}

impl Followers {
    /// Notifies followers of a commit of this process.
    pub(crate) fn notify(&self, topic: Topic) {
        increment(self.0.sender(topic));
    }

    /// Adds a follower. If the file is shared, starts to poll it unless a poll is running.
    pub(crate) fn add(&self, topic: Topic, shared: Option<&SqlitePool>) -> watch::Receiver<u64> {
        let follower = self.0.sender(topic).subscribe();
        if let Some(readers) = shared
            && !self.0.is_polling.swap(true, SeqCst)
        {
            tokio::spawn(poll_while_followed(readers.clone(), Arc::clone(&self.0)));
        }
        follower
    }
}

impl Inner {
    const fn sender(&self, topic: Topic) -> &watch::Sender<u64> {
        match topic {
            Topic::Tasks => &self.tasks,
            Topic::Jobs => &self.jobs,
            Topic::AcceptedTools => &self.accepted_tools,
            Topic::Elsewhere => &self.elsewhere,
        }
    }

    fn all(&self) -> [&watch::Sender<u64>; 4] {
        [&self.tasks, &self.jobs, &self.accepted_tools, &self.elsewhere]
    }

    fn is_followed(&self) -> bool {
        self.all().iter().any(|sender| sender.receiver_count() > 0)
    }

    fn notify_all(&self) {
        self.all().into_iter().for_each(increment);
    }
}

fn increment(sender: &watch::Sender<u64>) {
    sender.send_modify(|commits| *commits = commits.wrapping_add(1));
}

async fn poll_while_followed(readers: SqlitePool, followers: Arc<Inner>) {
    loop {
        if poll(&readers, &followers).await.is_err() {
            // The file cannot be read now: notify at a longer interval.
            sleep(POLL_INTERVAL * 20).await;
            followers.notify_all();
            if followers.is_followed() {
                continue;
            }
        }
        followers.is_polling.store(false, SeqCst);
        // A follower that was added just now relies on this loop.
        if !followers.is_followed() || followers.is_polling.swap(true, SeqCst) {
            break;
        }
    }
}

/// Polls whether another connection has changed the file, until there is no follower.
async fn poll(readers: &SqlitePool, followers: &Inner) -> Result<(), Error> {
    let mut connection = readers.acquire().await?;
    let mut seen: Option<i64> = None;
    while followers.is_followed() {
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
