//! A batch: transactions that share one database transaction, each with a savepoint.

use std::{sync::Arc, time::Duration};

use sqlx::SqlitePool;
use tokio::{sync::watch, time::Instant};

use crate::{
    Durability,
    sql::{Connection, Transaction},
    sqlite::open_files::OpenFiles,
};
use toolwire_base::clock;

/// Maximum number of transactions in a batch.
const MAX_MEMBERS: usize = 256;

/// A batch stops admitting members at this many bytes, so it may exceed them by one member. Only what may be long is
/// counted, as reported to [`Tx::adds`](crate::Tx::adds): texts of entries, outcomes, arguments, small documents.
pub(super) const MAX_BYTES: usize = 8 * 1024 * 1024;

/// A batch stops admitting members at this age, since its first member waits for the commit.
pub(super) const MAX_AGE: Duration = Duration::from_millis(100);

/// Retains the last member, and begins the next one.
const NEXT_MEMBER: &str = "RELEASE member; SAVEPOINT member";

/// Rolls the last member back. Its savepoint stays, and becomes that of the next member. Fails, as [`NEXT_MEMBER`]
/// does, if SQLite has ended the transaction by itself.
const DISCARD_MEMBER: &str = "ROLLBACK TO member";

/// The result of a batch's commit, once it is known.
pub(super) type CommitResult = Option<Result<(), Arc<sqlx::Error>>>;

#[derive(Debug)]
pub(super) struct Batch {
    transaction: Transaction,
    durability: Durability,
    /// Number of retained members, including the current one.
    members: usize,
    /// Bytes that members reported.
    bytes: usize,
    /// When it stops admitting members.
    closes_at: Instant,
    /// Whether the last member is retained.
    is_kept: bool,
    /// Checked before the commit is acknowledged.
    files: Option<Arc<OpenFiles>>,
    result: watch::Sender<CommitResult>,
}

impl Batch {
    /// Begins a batch with its first member.
    pub(super) async fn begin(
        pool: &SqlitePool,
        durability: Durability,
        files: Option<Arc<OpenFiles>>,
    ) -> Result<Self, sqlx::Error> {
        let begin = match durability {
            Durability::Power => "PRAGMA synchronous = FULL; BEGIN IMMEDIATE; SAVEPOINT member",
            Durability::Process => "PRAGMA synchronous = NORMAL; BEGIN IMMEDIATE; SAVEPOINT member",
        };
        let connection = Connection::from(pool.acquire().await?);
        let transaction = Transaction::begin(connection, begin.to_owned()).await?;
        let result = watch::Sender::new(None);
        let closes_at = clock::now() + MAX_AGE;
        Ok(Self { transaction, durability, members: 1, bytes: 0, closes_at, is_kept: true, files, result })
    }

    pub(super) fn connection(&self) -> &Connection {
        &self.transaction
    }

    pub(super) fn connection_mut(&mut self) -> &mut Connection {
        &mut self.transaction
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<CommitResult> {
        self.result.subscribe()
    }

    /// Whether the current member is the only one.
    pub(super) fn has_one_member(&self) -> bool {
        self.members == 1
    }

    /// Whether it admits a member: one that must survive a power failure needs a commit that does.
    pub(super) fn admits(&self, durability: Durability) -> bool {
        self.has_room() && (self.durability == durability || self.durability == Durability::Power)
    }

    /// Whether it admits any further member.
    pub(super) fn has_room(&self) -> bool {
        self.members < MAX_MEMBERS && self.bytes < MAX_BYTES && clock::now() < self.closes_at
    }

    pub(super) fn add_bytes(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_add(bytes);
    }

    pub(super) async fn begin_member(&mut self) -> Result<(), sqlx::Error> {
        let statement = if self.is_kept { NEXT_MEMBER } else { DISCARD_MEMBER };
        self.transaction.execute_raw(statement).await?;
        self.members += 1;
        self.is_kept = true;
        Ok(())
    }

    /// Discards the current member, and returns whether others remain. Its rollback is left to the next statement,
    /// since a transaction is discarded when it is dropped, where nothing can be awaited.
    pub(super) fn discard_member(&mut self) -> bool {
        self.members -= 1;
        self.is_kept = false;
        self.members > 0
    }

    /// Commits a batch of one member, which has no subscriber.
    pub(super) async fn commit_alone(self) -> Result<(), sqlx::Error> {
        self.transaction.commit().await?;
        check(self.files.as_deref())
    }

    /// Commits, and broadcasts the result to the members.
    pub(super) async fn commit(self) {
        let Self { mut transaction, is_kept, files, result, .. } = self;
        let commit = async {
            if !is_kept {
                transaction.execute_raw(DISCARD_MEMBER).await?;
            }
            transaction.commit().await?;
            check(files.as_deref())
        };
        result.send_replace(Some(commit.await.map_err(Arc::new)));
    }
}

/// A commit to files that are not those of the state must not be acknowledged.
fn check(files: Option<&OpenFiles>) -> Result<(), sqlx::Error> {
    files.map_or(Ok(()), |files| Ok(files.check()?))
}
