//! Who follows is told that it is worth looking: by this process at once, of others by asking the file, as long as
//! anybody follows.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::Duration,
};

use sqlx::SqlitePool;
use tokio::{sync::watch, time::sleep};

use crate::store::sqlite::Failed;

/// Changes of other processes are seen this late at most.
const LOOK: Duration = Duration::from_millis(50);

/// Those who follow.
#[derive(Debug)]
pub(in crate::store::sqlite) struct Followers {
    committed: watch::Sender<u64>,
    /// Whether the file is asked. One connection asks: the number is each connection's own.
    looking: Arc<AtomicBool>,
}

impl Default for Followers {
    fn default() -> Self {
        Self { committed: watch::Sender::new(0), looking: Arc::default() }
    }
}

impl Followers {
    /// Tells that something was committed.
    pub(in crate::store::sqlite) fn tell(&self) {
        self.committed.send_modify(|commits| *commits = commits.wrapping_add(1));
    }

    /// One more; of what others commit to a shared file it is told by asking the file.
    pub(in crate::store::sqlite) fn add(&self, shared: Option<&SqlitePool>) -> watch::Receiver<u64> {
        let follower = self.committed.subscribe();
        if let Some(readers) = shared
            && !self.looking.swap(true, SeqCst)
        {
            tokio::spawn(keep_looking(readers.clone(), self.committed.clone(), Arc::clone(&self.looking)));
        }
        follower
    }
}

async fn keep_looking(readers: SqlitePool, committed: watch::Sender<u64>, looking: Arc<AtomicBool>) {
    loop {
        if look(&readers, &committed).await.is_err() {
            // The file cannot be read now: those who follow look by themselves meanwhile.
            sleep(LOOK * 20).await;
            committed.send_modify(|commits| *commits = commits.wrapping_add(1));
            continue;
        }
        looking.store(false, SeqCst);
        // Somebody may have come just now, and relies on this.
        if committed.receiver_count() == 0 || looking.swap(true, SeqCst) {
            break;
        }
    }
}

/// Asks the file whether another connection has changed it, until nobody follows.
async fn look(readers: &SqlitePool, committed: &watch::Sender<u64>) -> Result<(), Failed> {
    let mut connection = readers.acquire().await?;
    let mut seen: Option<i64> = None;
    while committed.receiver_count() > 0 {
        let version = sqlx::query_scalar("PRAGMA data_version").fetch_one(&mut *connection).await?;
        if seen.is_some_and(|seen| seen != version) {
            committed.send_modify(|commits| *commits = commits.wrapping_add(1));
        }
        seen = Some(version);
        sleep(LOOK).await;
    }
    Ok(())
}
