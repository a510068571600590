//! A batch: transactions that share one transaction of the database, each with a savepoint of its own.

use std::{sync::Arc, time::Duration};

use sqlx::{SqlitePool, Transaction, raw_sql};
use tokio::{sync::watch, time::Instant};

use toolwire_base::clock;

/// The maximum number of transactions in a batch.
const MAX_MEMBERS: usize = 256;

/// A batch with this many bytes takes no further member; its size is less than this and the bytes of one member. Counted
/// is what may be long, as [`Tx::adds`](super::Tx::adds) reports it: texts of entries, outcomes, arguments, small
/// documents.
pub(super) const MAX_BYTES: usize = 8 * 1024 * 1024;

/// A batch that is older takes no further member: its first one waits for the commit of all.
pub(super) const MAX_AGE: Duration = Duration::from_millis(100);

/// Begins a member after one that is kept.
const NEXT_MEMBER: &str = "RELEASE member; SAVEPOINT member";

/// Begins a member after one that is rolled back. Fails, as [`NEXT_MEMBER`] does, where SQLite has ended the transaction
/// by itself.
const DISCARD_MEMBER: &str = "ROLLBACK TO member";

/// What a commit survives. Neither can leave a damaged file or half a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// A loss of power: the commit is on the disk.
    Power,
    /// A killed process, but perhaps not a loss of power. It does not wait for the disk.
    Process,
}

/// The result of the commit of a batch, once there is one.
pub(super) type CommitResult = Option<Result<(), Arc<sqlx::Error>>>;

#[derive(Debug)]
pub(super) struct Batch {
    transaction: Transaction<'static, sqlx::Sqlite>,
    durability: Durability,
    /// The number of kept members, with the current one.
    members: usize,
    /// The bytes that members reported.
    bytes: usize,
    /// The instant from which it takes no further member.
    closes_at: Instant,
    /// Whether the last member is kept.
    is_kept: bool,
    result: watch::Sender<CommitResult>,
}

impl Batch {
    /// Begins a batch with its first member.
    pub(super) async fn begin(pool: &SqlitePool, durability: Durability) -> Result<Self, sqlx::Error> {
        let begin = match durability {
            Durability::Power => "PRAGMA synchronous = FULL; BEGIN IMMEDIATE; SAVEPOINT member",
            Durability::Process => "PRAGMA synchronous = NORMAL; BEGIN IMMEDIATE; SAVEPOINT member",
        };
        let transaction = pool.begin_with(begin).await?;
        let result = watch::Sender::new(None);
        let closes_at = clock::now() + MAX_AGE;
        Ok(Self { transaction, durability, members: 1, bytes: 0, closes_at, is_kept: true, result })
    }

    pub(super) fn connection(&self) -> &sqlx::SqliteConnection {
        &self.transaction
    }

    pub(super) fn connection_mut(&mut self) -> &mut sqlx::SqliteConnection {
        &mut self.transaction
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<CommitResult> {
        self.result.subscribe()
    }

    /// Whether its only member is the current one.
    pub(super) fn has_one_member(&self) -> bool {
        self.members == 1
    }

    /// Whether it takes a member: one that must survive a loss of power needs a commit that does.
    pub(super) fn takes(&self, durability: Durability) -> bool {
        self.has_room() && (self.durability == durability || self.durability == Durability::Power)
    }

    /// Whether it takes any further member.
    pub(super) fn has_room(&self) -> bool {
        self.members < MAX_MEMBERS && self.bytes < MAX_BYTES && clock::now() < self.closes_at
    }

    pub(super) fn add_bytes(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_add(bytes);
    }

    /// Begins the next member.
    pub(super) async fn begin_member(&mut self) -> Result<(), sqlx::Error> {
        let statement = if self.is_kept { NEXT_MEMBER } else { DISCARD_MEMBER };
        raw_sql(statement).execute(&mut *self.transaction).await?;
        self.members += 1;
        self.is_kept = true;
        Ok(())
    }

    /// Discards the current member, and returns whether any other is left.
    pub(super) fn discard_member(&mut self) -> bool {
        self.members -= 1;
        self.is_kept = false;
        self.members > 0
    }

    /// Commits a batch of one member.
    pub(super) async fn commit_alone(self) -> Result<(), sqlx::Error> {
        self.transaction.commit().await
    }

    /// Commits, and sends the result to every member.
    pub(super) async fn commit(self) {
        let Self { mut transaction, is_kept, result, .. } = self;
        let done = async {
            if !is_kept {
                raw_sql(DISCARD_MEMBER).execute(&mut *transaction).await?;
            }
            transaction.commit().await
        };
        result.send_replace(Some(done.await.map_err(Arc::new)));
    }
}
