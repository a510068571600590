//! Followers are told that it is worth looking: of what this process commits at once, of what others commit by asking
//! the file, as long as there is a follower.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::Duration,
};

use sqlx::SqlitePool;
use tokio::{sync::watch, time::sleep};

use super::Failed;

/// Changes of other processes are seen this late at most.
const LOOK: Duration = Duration::from_millis(50);

/// What a follower reads when it is told to look.
#[derive(Clone, Copy, Debug)]
pub(super) enum Topic {
    /// Tasks and their timelines.
    Tasks,
    /// Jobs.
    Jobs,
    /// What other processes do with calls, and what they ask this one to cancel. This process tells nothing of it.
    Elsewhere,
}

/// Those who follow. Cheap to clone; clones share state.
#[derive(Clone, Debug, Default)]
pub(super) struct Followers(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    tasks: watch::Sender<u64>,
    jobs: watch::Sender<u64>,
    elsewhere: watch::Sender<u64>,
    /// Whether the file is asked. One connection asks for all: the number is each connection's own.
    looking: AtomicBool,
}

impl Followers {
    /// Tells that this process has committed something of the topic.
    pub(super) fn tell(&self, topic: Topic) {
        increment(self.0.committed(topic));
    }

    /// One more; of what others commit to a shared file it is told by asking the file.
    pub(super) fn add(&self, topic: Topic, shared: Option<&SqlitePool>) -> watch::Receiver<u64> {
        let follower = self.0.committed(topic).subscribe();
        if let Some(readers) = shared
            && !self.0.looking.swap(true, SeqCst)
        {
            tokio::spawn(keep_looking(readers.clone(), Arc::clone(&self.0)));
        }
        follower
    }
}

impl Inner {
    const fn committed(&self, topic: Topic) -> &watch::Sender<u64> {
        match topic {
            Topic::Tasks => &self.tasks,
            Topic::Jobs => &self.jobs,
            Topic::Elsewhere => &self.elsewhere,
        }
    }

    fn all(&self) -> [&watch::Sender<u64>; 3] {
        [&self.tasks, &self.jobs, &self.elsewhere]
    }

    fn is_followed(&self) -> bool {
        self.all().iter().any(|committed| committed.receiver_count() > 0)
    }

    fn tell_all(&self) {
        self.all().into_iter().for_each(increment);
    }
}

fn increment(committed: &watch::Sender<u64>) {
    committed.send_modify(|commits| *commits = commits.wrapping_add(1));
}

async fn keep_looking(readers: SqlitePool, followers: Arc<Inner>) {
    loop {
        if look(&readers, &followers).await.is_err() {
            // The file cannot be read now: those who follow look by themselves meanwhile.
            sleep(LOOK * 20).await;
            followers.tell_all();
            continue;
        }
        followers.looking.store(false, SeqCst);
        // Somebody may have come just now, and relies on this.
        if !followers.is_followed() || followers.looking.swap(true, SeqCst) {
            break;
        }
    }
}

/// Asks the file whether another connection has changed it, until nobody follows.
async fn look(readers: &SqlitePool, followers: &Inner) -> Result<(), Failed> {
    let mut connection = readers.acquire().await?;
    let mut seen: Option<i64> = None;
    while followers.is_followed() {
        let version = sqlx::query_scalar("PRAGMA data_version").fetch_one(&mut *connection).await?;
        // The first time too: whoever came may have read before, and the change be older than this look.
        if seen != Some(version) {
            followers.tell_all();
        }
        seen = Some(version);
        sleep(LOOK).await;
    }
    Ok(())
}
