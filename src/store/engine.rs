//! [`Store`], the handle of the state, and the decisions that are made within a transaction: its methods, with a folder
//! for each kind of record. Stores of a domain are types of the domain that hold it. Not here: SQL statements.

#[macro_use]
mod transact;

mod accepted_tools;
mod audit;
mod blobs;
mod calls;
mod cancellations;
mod clock;
mod confirmations;
mod cool_downs;
mod documents;
mod equal_writes;
mod fetch;
mod held_sessions;
mod hold_offs;
mod idempotency;
mod jobs;
mod kept_results;
mod outbox;
mod probe;
mod replicas;
mod reservations;
mod results;
mod secret;
mod sessions;
mod tasks;
mod transitions;

use std::{path::Path, sync::Arc};

use futures_util::future::BoxFuture;
use tokio::sync::{OnceCell, watch};

pub(crate) use self::tasks::refold_all;
use self::transact::Explain;
pub use self::transact::{Scoped, scoped};
use crate::{
    Durability, Error, Lane, Migrations, StoreError, TableTaken, Tx, Wal,
    away::is_silent,
    blobs::Pins,
    clock::{Clock, Machine},
    confirmations::QUOTA as CONFIRMATIONS_QUOTA,
    database::Database,
    followers::{self as follow, Followers},
    idempotency::Quota,
    kept_results::QUOTA as KEPT_RESULTS_QUOTA,
    last_error::LastError,
    location::{self, Location},
    migrations,
    postgres::{self, Address},
    readers,
    results::MAX_BYTES,
    sql::Connection,
    sqlite::{self, connect, error, replica::Replica, wal},
    time,
};
use toolwire_base::fair_semaphore::FairSemaphore;
use toolwire_tool::context::UserId;

/// The state of a server. It is opened on first use: a program that needs no state touches no file.
#[derive(Debug)]
pub struct Store {
    location: Location,
    /// The platform's migrations, then those of each domain.
    tables: Vec<Migrations>,
    /// The maximum bytes of cached results.
    results_bytes: u64,
    /// The maximum bytes of calls with a `request_id`.
    calls_quota: Quota,
    database: OnceCell<Database>,
    /// Blobs that are written but not yet referenced by a row.
    pins: Pins,
    /// Divides the readers among users.
    read_permits: FairSemaphore<UserId>,
    last_error: LastError,
    /// The clock by which everything in it ends, expires or is forgotten.
    clock: Clock,
    confirmations_quota: Quota,
    kept_results_quota: Quota,
    confirmation_waiters: confirmations::Waiters,
    followers: Followers,
    /// Messages of tasks that wait for the next append.
    messages: tasks::Messages,
    /// The identity of this process among those that share the file.
    replica: Replica,
}

/// The part of a table that holds rows of one kind of source, so that embedded data is never presented as real.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Partition {
    /// Data of live sources.
    Live,
    /// Made-up data of embedded sources.
    Embedded,
}

impl Partition {
    /// The value of the column `user_id` in a user's rows. Unambiguous, since a user id contains no space.
    pub fn user_key(self, user: &UserId) -> String {
        match self {
            Self::Live => user.to_string(),
            Self::Embedded => format!("embedded {user}"),
        }
    }
}

impl Store {
    /// The state in a directory. Directory and file are created on first use.
    pub fn at(directory: &Path) -> Self {
        Self::new(Location::Directory(directory.to_owned()))
    }

    /// The state in a PostgreSQL database, which processes of several machines share.
    pub fn in_postgres(address: Address) -> Self {
        Self::new(Location::Postgres(Arc::new(address)))
    }

    /// Whether servers of several machines may share it.
    pub fn spans_machines(&self) -> bool {
        matches!(self.location, Location::Postgres(_))
    }

    /// No state: every use fails with this reason.
    pub fn unavailable(reason: impl Into<String>) -> Self {
        Self::new(Location::Unavailable(reason.into()))
    }

    /// A state in memory, for tests.
    pub fn in_memory() -> Self {
        Self::new(Location::Memory)
    }

    fn new(location: Location) -> Self {
        let tables = vec![Migrations::of_platform()];
        let clock = clock::of(&location, Machine::default());
        Self {
            location,
            tables,
            results_bytes: MAX_BYTES,
            calls_quota: Quota::default(),
            database: OnceCell::new(),
            pins: Pins::default(),
            read_permits: readers::permits(),
            last_error: LastError::default(),
            clock,
            confirmations_quota: CONFIRMATIONS_QUOTA,
            kept_results_quota: KEPT_RESULTS_QUOTA,
            confirmation_waiters: confirmations::Waiters::default(),
            followers: Followers::default(),
            messages: tasks::Messages::default(),
            replica: Replica::default(),
        }
    }

    /// Adds tables of domains to the platform's. Must precede the first use.
    pub fn with_tables(mut self, tables: impl IntoIterator<Item = Migrations>) -> Result<Self, TableTaken> {
        self.tables.extend(tables);
        migrations::refuse_taken(&self.tables)?;
        Ok(self)
    }

    pub fn with_results_bytes(self, results_bytes: u64) -> Self {
        Self { results_bytes, ..self }
    }

    pub fn with_calls_quota(self, calls_quota: Quota) -> Self {
        Self { calls_quota, ..self }
    }

    pub fn with_confirmations_quota(self, confirmations_quota: Quota) -> Self {
        Self { confirmations_quota, ..self }
    }

    pub fn with_kept_results_quota(self, kept_results_quota: Quota) -> Self {
        Self { kept_results_quota, ..self }
    }

    /// Opens and checks the state now, so that an unusable one fails the start of the server and not its first call.
    pub async fn open(&self) -> Result<(), StoreError> {
        match self.database().await? {
            Database::Sqlite(pools) => connect::check(&self.location, &pools.readers).await,
            Database::Postgres(_) => Ok(()),
        }
    }

    /// Boxed: every future here contains it, and the compiler could not prove that they are `Send`.
    fn database(&self) -> BoxFuture<'_, Result<&Database, StoreError>> {
        Box::pin(self.database.get_or_try_init(|| self.connect()))
    }

    async fn connect(&self) -> Result<Database, StoreError> {
        match &self.location {
            Location::Postgres(address) => {
                let readings = postgres::Readings::new(address, &self.clock, &self.last_error);
                let database = postgres::connect(address, &self.tables, &self.followers, readings).await?;
                self.replica.show(self.now());
                Ok(Database::Postgres(database))
            }
            location => connect::connect(location, &self.tables, &self.replica).await.map(Database::Sqlite),
        }
    }

    /// Acquires a connection that reads concurrently with transactions. Statements that must see one snapshot belong in
    /// one [`view`](crate::sql::view).
    pub async fn reader(&self) -> Result<Connection, StoreError> {
        let acquired = self.database().await?.reader().await;
        self.explain(acquired)
    }

    /// Acquires a permit of the user and a read-only connection, to read a page.
    pub(crate) async fn reader_for(&self, user: &UserId) -> Result<readers::UserReader, Error> {
        readers::acquire(self.database().await?, &self.read_permits, user).await
    }

    /// Begins a write transaction of no user that the caller commits, where [`transact`](Self::transact) does not fit.
    /// The commit may be shared with others. No other process can write until it ends, so it must await nothing but the
    /// database. What it reads may be part of the same commit and be rolled back: commit before answering with it.
    pub async fn change(&self, durability: Durability) -> Result<Tx, Error> {
        self.begin((Lane::Platform, durability), true).await
    }

    /// Begins a transaction. One that decides by the clock is refused while the clock cannot be relied on.
    pub(crate) async fn begin(
        &self,
        of: (Lane<'_>, Durability),
        decides_by_clock: bool,
    ) -> Result<Tx, Error> {
        let database = self.database().await?;
        if decides_by_clock {
            self.rely_on_clock().await?;
        }
        database.begin(of, decides_by_clock, self.current_name().await?, &self.clock).await
    }

    /// A receiver that changes when any process may have committed a change of the topic.
    async fn follow(&self, topic: follow::Topic) -> Result<watch::Receiver<u64>, StoreError> {
        let database = self.database().await?;
        let follower = self.followers.add(topic);
        // No other process writes to a state in memory, and PostgreSQL tells of commits by itself.
        if let (Database::Sqlite(pools), Location::Directory(_)) = (database, &self.location) {
            sqlite::follow::start(&pools.readers, &self.followers);
        }
        Ok(follower)
    }

    /// Truncates the write-ahead log if it exceeds its limit and no read transaction needs it. Otherwise it costs one
    /// `stat`.
    pub async fn truncate_wal(&self) -> Result<Wal, StoreError> {
        wal::truncate(&self.location).await
    }

    /// Converts an error for operators: which file, what is wrong, what to do.
    pub fn explain<T>(&self, result: Result<T, Error>) -> Result<T, StoreError> {
        result.map_err(|error| error.explain(self))
    }

    /// The location as shown to operators.
    pub(crate) fn place(&self) -> String {
        self.location.name()
    }

    /// The tables of the platform and of domains.
    pub(crate) fn table_names(&self) -> impl Iterator<Item = &'static str> + use<'_> {
        self.tables.iter().flat_map(Migrations::tables)
    }

    fn unusable(&self, error: &sqlx::Error) -> StoreError {
        // Why it does not answer is known to the connection that tries to reach it.
        if is_silent(error)
            && let Some(cause) = self.last_error.watch().borrow().clone()
        {
            return cause;
        }
        let error = match &self.location {
            Location::Postgres(address) => postgres::unusable(address, error),
            location => error::unusable(location, error),
        };
        match error {
            // The state is usable by others, or but for a row.
            error @ (StoreError::Crowded | StoreError::Slow { .. } | StoreError::Unreadable { .. }) => error,
            error => self.last_error.set(error),
        }
    }
}
