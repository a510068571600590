//! Group commit: changes that come while another is under way share one transaction of the database, and so one wait
//! for the disk. No timer: a change that comes alone waits for nobody.
//!
//! Each change has a savepoint, so that one that fails or is given up harms no other; and each is told how the commit
//! of all ended, so that nothing is acknowledged that is not stored. A group is bounded in members, bytes and age: its
//! first member waits for all of it, and nobody else writes meanwhile. Not here: what is changed.

use std::{
    ops::{Deref, DerefMut},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use sqlx::{SqliteConnection, SqlitePool, Transaction, raw_sql};
use tokio::{
    runtime::Handle,
    sync::{Mutex, OwnedMutexGuard, watch},
    time::{Instant, timeout},
};

use super::Failed;
use toolwire_base::clock;

/// So many changes share one commit at most.
const LARGEST: usize = 256;

/// A group to which so many bytes were added takes no other change: it has less than this, and one change more.
/// Counted is what may be long, as [`Change::adds`] is told: texts of entries, outcomes, arguments, small documents.
const MOST_BYTES: usize = 8 * 1024 * 1024;

/// Nor does one that began so long ago.
const OLDEST: Duration = Duration::from_millis(100);

/// How long a change waits for those before it.
const WAIT: Duration = Duration::from_secs(10);

/// Begins the next change of a group after one that is part of it.
const NEXT: &str = "RELEASE member; SAVEPOINT member";

/// Begins the next change of a group after one that is not. Fails, as the other does, where SQLite has ended the
/// transaction by itself.
const INSTEAD: &str = "ROLLBACK TO member";

/// What a commit outlasts. Neither can leave a damaged file or half a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// A loss of power: what is acknowledged is on the disk.
    Power,
    /// A killed process, but perhaps not a loss of power: for what may be lost without harm, and costs no wait for the
    /// disk.
    Process,
}

/// The one connection that writes: those who wait for it have their turn in order, which SQLite's own waiting does not
/// give.
#[derive(Clone, Debug)]
pub(super) struct Writer {
    pool: SqlitePool,
    line: Arc<Line>,
}

/// Those who change something, one after another.
#[derive(Debug, Default)]
struct Line {
    /// Whoever holds it has the turn. The group is what those before have left open.
    group: Arc<Mutex<Option<Group>>>,
    waiting: AtomicUsize,
    /// The process of all of them.
    replica: Arc<str>,
}

/// Changes that are committed together.
#[derive(Debug)]
struct Group {
    transaction: Transaction<'static, sqlx::Sqlite>,
    durability: Durability,
    /// How many are part of it, the one under way included.
    members: usize,
    /// How much was added by them, as far as they say.
    bytes: usize,
    /// From then on it takes no other.
    until: Instant,
    /// Whether the last one is part of it.
    is_kept: bool,
    ended: watch::Sender<Option<Result<(), Arc<sqlx::Error>>>>,
}

/// A write transaction, undone if it is dropped. It takes effect when it is committed.
#[derive(Debug)]
pub struct Change {
    /// Until it is committed or dropped.
    turn: Option<OwnedMutexGuard<Option<Group>>>,
    line: Arc<Line>,
}

/// One who waits for a turn.
struct Waiting<'a>(&'a Arc<Line>);

impl Writer {
    /// Of the process of this name.
    pub(super) fn new(pool: SqlitePool, replica: Arc<str>) -> Self {
        Self { pool, line: Arc::new(Line { replica, ..Line::default() }) }
    }

    /// The connection itself, for what is no change: opening, and reading where there is no other.
    pub(super) fn pool(&self) -> &SqlitePool {
        &self.pool
    }

    /// Begins a change, in the group that is open if there is one.
    pub(super) async fn change(&self, durability: Durability) -> Result<Change, Failed> {
        let mut turn = self.turn().await?;
        if let Some(group) = turn.as_mut() {
            if group.takes(durability) && group.go_on().await.is_ok() {
                return Ok(Change::new(turn, &self.line));
            }
            turn.take().expect("it is there").end().await;
        }
        *turn = Some(Group::begin(&self.pool, durability).await?);
        Ok(Change::new(turn, &self.line))
    }

    async fn turn(&self) -> Result<OwnedMutexGuard<Option<Group>>, Failed> {
        let group = Arc::clone(&self.line.group);
        if let Ok(turn) = Arc::clone(&group).try_lock_owned() {
            return Ok(turn);
        }
        // Whoever gives up waiting may have been the one for whom the group was left open.
        let waiting = Waiting::new(&self.line);
        let turn = timeout(WAIT, group.lock_owned()).await.map_err(|_| sqlx::Error::PoolTimedOut)?;
        drop(waiting);
        Ok(turn)
    }
}

impl Change {
    fn new(turn: OwnedMutexGuard<Option<Group>>, line: &Arc<Line>) -> Self {
        Self { turn: Some(turn), line: Arc::clone(line) }
    }

    fn group(&self) -> &Group {
        self.turn.as_deref().and_then(Option::as_ref).expect("a change is part of a group")
    }

    /// The process that makes it.
    pub(super) fn replica(&self) -> &str {
        &self.line.replica
    }

    /// Says that so many bytes are written by it, where that may be many.
    pub fn adds(&mut self, bytes: usize) {
        if let Some(group) = self.turn.as_deref_mut().and_then(Option::as_mut) {
            group.bytes = group.bytes.saturating_add(bytes);
        }
    }

    /// Makes it, and whatever shares its commit, take effect. Returns when that is stored.
    pub async fn commit(mut self) -> Result<(), Failed> {
        let mut turn = self.turn.take().expect("it is committed once");
        let group = turn.as_mut().expect("a change is part of a group");
        if group.members == 1 && !self.line.has_next() {
            let group = turn.take().expect("it is there");
            return Ok(group.transaction.commit().await?);
        }
        let mut ended = group.ended.subscribe();
        if group.has_room() && self.line.has_next() {
            // The next one commits, or the one after it.
            drop(turn);
            self.line.settle();
        } else {
            // On its own, since whoever gives up waiting must not leave the others without an answer.
            tokio::spawn(end(turn));
        }
        let ended = ended.wait_for(Option::is_some).await.map(|ended| (*ended).clone());
        match ended {
            Ok(Some(Ok(()))) => Ok(()),
            Ok(Some(Err(error))) => Err(Failed::Shared(error)),
            // Only if the runtime ends.
            Ok(None) | Err(_) => Err(Failed::Database(sqlx::Error::WorkerCrashed)),
        }
    }
}

impl Drop for Change {
    fn drop(&mut self) {
        let Some(mut turn) = self.turn.take() else { return };
        let Some(group) = turn.as_mut() else { return };
        group.members -= 1;
        group.is_kept = false;
        if group.members == 0 {
            // Undone as a whole.
            *turn = None;
        }
        drop(turn);
        self.line.settle();
    }
}

impl Deref for Change {
    type Target = SqliteConnection;

    fn deref(&self) -> &SqliteConnection {
        &self.group().transaction
    }
}

impl DerefMut for Change {
    fn deref_mut(&mut self) -> &mut SqliteConnection {
        let group = self.turn.as_deref_mut().and_then(Option::as_mut);
        &mut group.expect("a change is part of a group").transaction
    }
}

impl Group {
    /// With its first member.
    async fn begin(pool: &SqlitePool, durability: Durability) -> Result<Self, sqlx::Error> {
        let begin = match durability {
            Durability::Power => "PRAGMA synchronous = FULL; BEGIN IMMEDIATE; SAVEPOINT member",
            Durability::Process => "PRAGMA synchronous = NORMAL; BEGIN IMMEDIATE; SAVEPOINT member",
        };
        let transaction = pool.begin_with(begin).await?;
        let ended = watch::Sender::new(None);
        let until = clock::now() + OLDEST;
        Ok(Self { transaction, durability, members: 1, bytes: 0, until, is_kept: true, ended })
    }

    /// Whether a change may be part of it: what must outlast a loss of power needs a commit that does.
    fn takes(&self, durability: Durability) -> bool {
        self.has_room() && (self.durability == durability || self.durability == Durability::Power)
    }

    /// Whether any change may still be part of it.
    fn has_room(&self) -> bool {
        self.members < LARGEST && self.bytes < MOST_BYTES && clock::now() < self.until
    }

    async fn go_on(&mut self) -> Result<(), sqlx::Error> {
        let go_on = if self.is_kept { NEXT } else { INSTEAD };
        raw_sql(go_on).execute(&mut *self.transaction).await?;
        self.members += 1;
        self.is_kept = true;
        Ok(())
    }

    /// Commits, and tells every member.
    async fn end(self) {
        let Self { mut transaction, is_kept, ended, .. } = self;
        let done = async {
            if !is_kept {
                raw_sql(INSTEAD).execute(&mut *transaction).await?;
            }
            transaction.commit().await
        };
        ended.send_replace(Some(done.await.map_err(Arc::new)));
    }
}

impl Line {
    fn has_next(&self) -> bool {
        self.waiting.load(SeqCst) > 0
    }

    /// Sees to it that what was left open for the next one is committed, if that one has given up.
    fn settle(self: &Arc<Self>) {
        if !self.has_next()
            && let Ok(turn) = Arc::clone(&self.group).try_lock_owned()
            && turn.is_some()
            && let Ok(runtime) = Handle::try_current()
        {
            runtime.spawn(end(turn));
        }
    }
}

impl<'a> Waiting<'a> {
    fn new(line: &'a Arc<Line>) -> Self {
        line.waiting.fetch_add(1, SeqCst);
        Self(line)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, SeqCst);
        self.0.settle();
    }
}

/// Commits what is open.
async fn end(mut turn: OwnedMutexGuard<Option<Group>>) {
    if let Some(group) = turn.take() {
        group.end().await;
    }
}

#[cfg(test)]
mod tests;
