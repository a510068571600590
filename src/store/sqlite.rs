//! State in one SQLite file, `toolwire.db` in the state directory, which several processes may share.
//!
//! [`Sqlite`] is the handle: where the file is, whose tables are in it, readers, and changes. The platform's stores
//! stand on it, one file each; a domain's stand on it in types of the domain's. Opened at first use: a program that
//! needs no state touches no file. Not here: backups, and more than one machine.

mod audit;
mod blobs;
mod calls;
mod cancellations;
mod confirmation_rows;
mod confirmations;
mod connect;
mod content;
mod cool_downs;
mod documents;
mod error;
mod follow;
mod group;
mod held_sessions;
mod hold_offs;
mod idempotency;
mod jobs;
mod last_error;
mod migrations;
mod outbox;
mod outcome_columns;
mod place;
mod readers;
mod replica;
mod reservations;
mod results;
mod secret;
mod sessions;
mod tasks;
pub mod time;
mod wal;

use std::path::Path;

use futures_util::future::BoxFuture;
use sqlx::SqlitePool;
use tokio::sync::{OnceCell, watch};

use self::{connect::Pools, last_error::LastError, place::Place, replica::Replica};
pub(super) use self::{
    content::{Content, inspect},
    migrations::newest,
    tasks::refold_all,
};
pub use self::{
    error::Failed,
    group::{Change, Durability},
    migrations::{Migrations, TableTaken},
    wal::Wal,
};
use super::{
    StoreError, blobs::Pins, confirmations::ROOM as CONFIRMATIONS_ROOM, idempotency::Room, results::MAX_BYTES,
};
use toolwire_base::fair_semaphore::FairSemaphore;
use toolwire_tool::context::UserId;

/// State in one SQLite file.
#[derive(Debug)]
pub struct Sqlite {
    place: Place,
    /// The platform's, and then those of each domain.
    tables: Vec<Migrations>,
    /// How many bytes of results are kept.
    results_bytes: u64,
    /// How much is remembered of calls with a `request_id`.
    room: Room,
    pools: OnceCell<Pools>,
    /// Files of bytes that are about to be named.
    pins: Pins,
    /// Whose turn it is to read.
    reading: FairSemaphore<UserId>,
    last_error: LastError,
    /// How much is kept of confirmations.
    confirmations_room: Room,
    /// Changes when this process changes a confirmation.
    confirmations_changed: watch::Sender<u64>,
    confirmations_waiting: confirmations::Waiting,
    /// Those who follow what is committed.
    followers: follow::Followers,
    /// Messages of tasks that wait to be written.
    messages: tasks::Messages,
    /// This process, to others that share the file.
    replica: Replica,
}

/// Rows of live sources and of embedded ones are kept apart: invented data is never shown as real.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Partition {
    /// Data of live sources.
    Live,
    /// Data of embedded ones, which is invented.
    Embedded,
}

impl Partition {
    /// The value of the column `user_id` in a user's rows. Unambiguous, since no user id has a space.
    pub fn user_key(self, user: &UserId) -> String {
        match self {
            Self::Live => user.to_string(),
            Self::Embedded => format!("embedded {user}"),
        }
    }
}

impl Sqlite {
    /// The state in the given directory. Both are made when the state is first used.
    pub fn at(directory: &Path) -> Self {
        Self::of(Place::Directory(directory.to_owned()))
    }

    /// No state: whatever needs it fails for the given reason.
    pub fn nowhere(reason: impl Into<String>) -> Self {
        Self::of(Place::Nowhere(reason.into()))
    }

    /// State that is gone with this value, for tests.
    pub fn in_memory() -> Self {
        Self::of(Place::Memory)
    }

    fn of(place: Place) -> Self {
        let tables = vec![Migrations::of_platform()];
        Self {
            place,
            tables,
            results_bytes: MAX_BYTES,
            room: Room::default(),
            pools: OnceCell::new(),
            pins: Pins::default(),
            reading: readers::turns(),
            last_error: LastError::default(),
            confirmations_room: CONFIRMATIONS_ROOM,
            confirmations_changed: watch::Sender::new(0),
            confirmations_waiting: confirmations::Waiting::default(),
            followers: follow::Followers::default(),
            messages: tasks::Messages::default(),
            replica: Replica::default(),
        }
    }

    /// The same state, with tables of domains beside the platform's. Must come before the first use.
    pub fn with(mut self, tables: impl IntoIterator<Item = Migrations>) -> Result<Self, TableTaken> {
        self.tables.extend(tables);
        migrations::refuse_taken(&self.tables)?;
        Ok(self)
    }

    /// The same state, keeping at most so many bytes of results.
    pub fn keeping(self, results_bytes: u64) -> Self {
        Self { results_bytes, ..self }
    }

    /// The same state, remembering so much of calls with a `request_id`.
    pub fn remembering(self, room: Room) -> Self {
        Self { room, ..self }
    }

    /// The same state, keeping so much of confirmations.
    pub fn confirming(self, confirmations_room: Room) -> Self {
        Self { confirmations_room, ..self }
    }

    /// Opens and checks the state now, so that what is wrong with it shows before anything needs it.
    pub async fn open(&self) -> Result<(), StoreError> {
        connect::check(&self.place, self.readers().await?).await
    }

    /// Boxed: it is in every future here, and the compiler cannot see through it that they can be sent.
    fn pools(&self) -> BoxFuture<'_, Result<&Pools, StoreError>> {
        Box::pin(
            self.pools.get_or_try_init(|| connect::connect(&self.place, &self.tables, self.replica.name())),
        )
    }

    /// Connections that read, whatever is changed meanwhile; they refuse to write. Several statements that must see one
    /// state go into one transaction.
    pub async fn readers(&self) -> Result<&SqlitePool, StoreError> {
        Ok(&self.pools().await?.readers)
    }

    /// A connection that reads a page for a user, when it is the user's turn.
    async fn reading(&self, user: &UserId) -> Result<readers::Reading, Failed> {
        readers::reading(self.readers().await?, &self.reading, user).await
    }

    /// Begins a write transaction, which takes effect on commit, and shares it with changes that come meanwhile. No
    /// other process can write until then, so it must not wait for anything but the database. What it has read may be
    /// part of the same commit: whoever answers by it commits too.
    pub async fn change(&self, durability: Durability) -> Result<Change, Failed> {
        self.pools().await?.writer.change(durability).await
    }

    /// A receiver that changes whenever something of the topic may have been committed, by whichever process.
    async fn follow(&self, topic: follow::Topic) -> Result<watch::Receiver<u64>, StoreError> {
        let readers = self.readers().await?;
        // State in memory is this process's alone.
        let shared = matches!(self.place, Place::Directory(_)).then_some(readers);
        Ok(self.followers.add(topic, shared))
    }

    /// What keeps the state from being used, while something does.
    pub fn last_error(&self) -> watch::Receiver<Option<StoreError>> {
        self.last_error.watch()
    }

    /// Writes something, to see whether it can be written again.
    pub async fn probe(&self) -> Result<(), StoreError> {
        self.explain(self.write_probe().await)?;
        self.last_error.end();
        Ok(())
    }

    async fn write_probe(&self) -> Result<(), Failed> {
        let mut change = self.change(Durability::Process).await?;
        sqlx::query(last_error::PROBE).execute(&mut *change).await?;
        change.commit().await
    }

    /// The failure in words for operators: which file, what is wrong, what to do.
    pub fn explain<T>(&self, done: Result<T, Failed>) -> Result<T, StoreError> {
        done.map_err(|failed| match failed {
            Failed::Store(error) => error,
            Failed::Database(error) => self.unusable(&error),
            Failed::Shared(error) => self.unusable(&error),
        })
    }

    fn unusable(&self, error: &sqlx::Error) -> StoreError {
        match error::unusable(&self.place, error) {
            // Others use it.
            StoreError::Crowded => StoreError::Crowded,
            error => self.last_error.begin(error),
        }
    }
}
