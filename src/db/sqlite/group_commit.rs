//! Group commit: transactions that begin while another is in progress share one database transaction, and so one sync
//! of the disk. There is no timer: a lone transaction commits immediately.
//!
//! Each has a savepoint, so a member that fails or is dropped rolls back nothing of the others. Each receives the
//! result of the shared commit, so nothing is acknowledged that is not stored. A [batch](Batch) is bounded in members,
//! bytes and age, since its first member waits for all of it and no other process can write meanwhile.

mod batch;
#[cfg(test)]
mod tests;

use std::{
    ops::{Deref, DerefMut},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use sqlx::SqlitePool;
use tokio::{
    runtime::Handle,
    sync::{Mutex, OwnedMutexGuard},
    time::timeout,
};

use self::batch::Batch;
use super::open_files::OpenFiles;
use crate::{
    Durability, Error,
    sql::Connection,
    turns::{Turn, Turns},
};

/// Maximum wait of a transaction for those before it.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(10);

/// The only connection that writes. Users take turns at it, unlike with SQLite's own busy handler.
#[derive(Clone, Debug)]
pub(crate) struct Writer {
    pool: SqlitePool,
    queue: Arc<CommitQueue>,
    turns: Turns,
    /// `None` for a state in memory.
    files: Option<Arc<OpenFiles>>,
}

#[derive(Debug, Default)]
struct CommitQueue {
    /// The writer's lock, which guards the batch that earlier transactions left open.
    batch: Arc<Mutex<Option<Batch>>>,
    waiting: AtomicUsize,
}

/// A write transaction that may share its commit with others.
#[derive(Debug)]
pub(crate) struct Member {
    /// `None` after it is committed or dropped.
    guard: Option<Guard>,
    queue: Arc<CommitQueue>,
}

/// The writer's lock, with the turn in which it was taken: both are released at once.
#[derive(Debug)]
struct Guard {
    batch: OwnedMutexGuard<Option<Batch>>,
    _turn: Turn,
}

/// Counts a transaction that has not begun yet, until it is dropped.
struct Waiting<'a>(&'a Arc<CommitQueue>);

impl Writer {
    pub(crate) fn new(pool: SqlitePool, files: Option<Arc<OpenFiles>>) -> Self {
        let turns = Turns::new(1, ACQUIRE_TIMEOUT);
        Self { pool, queue: Arc::default(), turns, files }
    }

    /// Fails if the files of the state are no longer those that are open.
    pub(crate) fn check_files(&self) -> Result<(), sqlx::Error> {
        self.files.as_ref().map_or(Ok(()), |files| Ok(files.check()?))
    }

    /// The connection itself, for what needs no transaction: opening, and reading a state in memory.
    pub(crate) fn pool(&self) -> &SqlitePool {
        &self.pool
    }

    /// Begins a transaction: in the open batch if that admits it, otherwise in a batch of its own.
    pub(crate) async fn begin(&self, durability: Durability) -> Result<Member, Error> {
        // A batch may have been left open for this caller. If it gives up, at whichever await, the guard is dropped
        // before `_waiting`, which then commits that batch: its members wait for nothing else.
        let _waiting = Waiting::new(&self.queue);
        let mut guard = self.lock().await?;
        if let Some(batch) = guard.as_mut() {
            if batch.admits(durability) && batch.begin_member().await.is_ok() {
                return Ok(Member::new(guard, &self.queue));
            }
            // It admits no other member, or cannot begin one, and is committed first: its members wait for that. In a
            // task of its own, as in `Member::commit`: they must receive a result although this caller is dropped.
            let batch = guard.take().expect("it is there");
            // Its members receive the result. It fails here only if the runtime shuts down.
            let _ = tokio::spawn(batch.commit()).await;
        }
        *guard = Some(Batch::begin(&self.pool, durability, self.files.clone()).await?);
        Ok(Member::new(guard, &self.queue))
    }

    async fn lock(&self) -> Result<Guard, Error> {
        let turn = self.turns.wait().await?;
        let batch = Arc::clone(&self.queue.batch);
        if let Ok(batch) = Arc::clone(&batch).try_lock_owned() {
            return Ok(Guard { batch, _turn: turn });
        }
        // The batch before is being committed.
        let locked = timeout(ACQUIRE_TIMEOUT, batch.lock_owned()).await;
        Ok(Guard { batch: locked.map_err(|_| sqlx::Error::PoolTimedOut)?, _turn: turn })
    }
}

impl Member {
    fn new(guard: Guard, queue: &Arc<CommitQueue>) -> Self {
        Self { guard: Some(guard), queue: Arc::clone(queue) }
    }

    /// Reports written bytes, where they may be many, so that the batch stays bounded.
    pub(crate) fn adds(&mut self, bytes: usize) {
        if let Some(batch) = self.guard.as_deref_mut().and_then(Option::as_mut) {
            batch.add_bytes(bytes);
        }
    }

    /// Commits with the other members of the batch, and returns once the commit is stored.
    pub(crate) async fn commit(mut self) -> Result<(), Error> {
        let mut guard = self.guard.take().expect("it is committed once");
        let batch = guard.as_mut().expect("a transaction is part of a batch");
        if batch.has_one_member() && !self.queue.has_next() {
            // No other member waits for the result, so the commit needs no task of its own: if this caller is dropped,
            // only its own transaction is affected.
            let batch = guard.take().expect("it is there");
            return Ok(batch.commit_alone().await?);
        }
        // Before the lock is released or the commit begins: the result is sent once.
        let mut result = batch.subscribe();
        if batch.has_room() && self.queue.has_next() {
            // The next member commits, or one after it. A waiter may have given up before the lock was released, and
            // then found the lock held: only a look after the release notices a batch that has no next member.
            drop(guard);
            self.queue.settle();
        } else {
            // In a task of its own: if this caller is dropped, the other members must still receive a result.
            tokio::spawn(commit(guard));
        }
        let result = result.wait_for(Option::is_some).await.map(|result| (*result).clone());
        match result {
            Ok(Some(Ok(()))) => Ok(()),
            Ok(Some(Err(error))) => Err(Error::Shared(error)),
            // Only when the runtime shuts down.
            Ok(None) | Err(_) => Err(Error::Database(sqlx::Error::WorkerCrashed)),
        }
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        let Some(mut guard) = self.guard.take() else { return };
        let Some(batch) = guard.as_mut() else { return };
        if !batch.discard_member() {
            // Nothing is left to commit: the transaction of the database is rolled back.
            *guard = None;
        }
        // In this order, as in `commit`.
        drop(guard);
        self.queue.settle();
    }
}

impl Deref for Guard {
    type Target = Option<Batch>;

    fn deref(&self) -> &Option<Batch> {
        &self.batch
    }
}

impl DerefMut for Guard {
    fn deref_mut(&mut self) -> &mut Option<Batch> {
        &mut self.batch
    }
}

impl Deref for Member {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        let batch = self.guard.as_deref().and_then(Option::as_ref);
        batch.expect("a transaction is part of a batch").connection()
    }
}

impl DerefMut for Member {
    fn deref_mut(&mut self) -> &mut Connection {
        let batch = self.guard.as_deref_mut().and_then(Option::as_mut);
        batch.expect("a transaction is part of a batch").connection_mut()
    }
}

impl CommitQueue {
    fn has_next(&self) -> bool {
        self.waiting.load(SeqCst) > 0
    }

    /// Commits a batch that was left open for a waiter that has given up.
    fn settle(self: &Arc<Self>) {
        if !self.has_next()
            && let Ok(guard) = Arc::clone(&self.batch).try_lock_owned()
            && guard.is_some()
            && let Ok(runtime) = Handle::try_current()
        {
            runtime.spawn(commit(guard));
        }
    }
}

impl<'a> Waiting<'a> {
    fn new(queue: &'a Arc<CommitQueue>) -> Self {
        queue.waiting.fetch_add(1, SeqCst);
        Self(queue)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        // First, so that this waiter does not count as the next member.
        self.0.waiting.fetch_sub(1, SeqCst);
        self.0.settle();
    }
}

/// Commits the open batch.
async fn commit(mut guard: impl DerefMut<Target = Option<Batch>>) {
    if let Some(batch) = guard.take() {
        batch.commit().await;
    }
}
