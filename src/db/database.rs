//! [`Database`], the handle: opened on first use, with what a program knows of it from then on.

mod clock;
mod fetch;
mod probe;
mod replicas;
mod transact;

use std::{
    future::{Ready, ready},
    path::Path,
    sync::Arc,
};

use futures_util::future::{BoxFuture, Either};
use tokio::sync::{OnceCell, watch};

pub use self::transact::{Explain, Scoped, scoped};
use crate::{
    Autocommit, Durability, Error, Lane, Migrations, StoreError, TableTaken, Topic, Tx, UserReader, Wal,
    backend::Backend,
    clock::{Clock, Machine},
    followers::Followers,
    last_error::LastError,
    location::Location,
    migrations,
    postgres::{self, Address},
    readers,
    sql::Connection,
    sqlite::{self, connect, error, replica::Replica, wal},
};
use toolwire_base::fair_semaphore::FairSemaphore;
use toolwire_tool::context::UserId;

/// The backend, or the attempt to open it. That is boxed, since it is large and every future here contains it, and the
/// compiler could not prove that they are `Send`.
type Opening<'a> =
    Either<Ready<Result<&'a Backend, StoreError>>, BoxFuture<'a, Result<&'a Backend, StoreError>>>;

/// A database. It is opened on first use: a program that needs none touches no file.
#[derive(Debug)]
pub struct Database {
    location: Location,
    /// The migrations of each owner, in the order in which they run.
    tables: Vec<Migrations>,
    backend: OnceCell<Backend>,
    /// Divides the readers among users.
    read_permits: FairSemaphore<UserId>,
    last_error: LastError,
    /// The clock by which everything in it ends, expires or is forgotten.
    clock: Clock,
    followers: Followers,
    /// The identity of this process among those that share the file.
    replica: Replica,
}

impl Database {
    /// The database in a directory, with these tables. Directory and file are created on first use.
    pub fn at(directory: &Path, tables: Migrations) -> Self {
        Self::new(Location::Directory(directory.to_owned()), tables)
    }

    /// A PostgreSQL database, which processes of several machines share.
    pub fn in_postgres(address: Address, tables: Migrations) -> Self {
        Self::new(Location::Postgres(Arc::new(address)), tables)
    }

    /// Whether servers of several machines may share it.
    pub fn spans_machines(&self) -> bool {
        matches!(self.location, Location::Postgres(_))
    }

    /// No database: every use fails with this reason.
    pub fn unavailable(reason: impl Into<String>, tables: Migrations) -> Self {
        Self::new(Location::Unavailable(reason.into()), tables)
    }

    /// A database in memory, for tests.
    pub fn in_memory(tables: Migrations) -> Self {
        Self::new(Location::Memory, tables)
    }

    fn new(location: Location, tables: Migrations) -> Self {
        let clock = clock::of(&location, Machine::default());
        Self {
            location,
            tables: vec![tables],
            backend: OnceCell::new(),
            read_permits: readers::permits(),
            last_error: LastError::default(),
            clock,
            followers: Followers::default(),
            replica: Replica::default(),
        }
    }

    /// Adds tables of other owners. Must precede the first use.
    pub fn with_tables(mut self, tables: impl IntoIterator<Item = Migrations>) -> Result<Self, TableTaken> {
        self.tables.extend(tables);
        migrations::refuse_taken(&self.tables)?;
        Ok(self)
    }

    /// Opens and checks the state now, so that an unusable one fails the start of the server and not its first call.
    pub async fn open(&self) -> Result<(), StoreError> {
        match self.backend().await? {
            Backend::Sqlite(pools) => connect::check(&self.location, &pools.readers).await,
            Backend::Postgres(_) => Ok(()),
        }
    }

    /// Opens it, without the check of [`open`](Self::open).
    pub async fn ensure_open(&self) -> Result<(), StoreError> {
        self.backend().await.map(drop)
    }

    fn backend(&self) -> Opening<'_> {
        match self.backend.get() {
            Some(backend) => Either::Left(ready(Ok(backend))),
            None => Either::Right(Box::pin(self.backend.get_or_try_init(|| self.connect()))),
        }
    }

    async fn connect(&self) -> Result<Backend, StoreError> {
        match &self.location {
            Location::Postgres(address) => {
                let readings = postgres::Readings::new(address, &self.clock, &self.last_error);
                let database = postgres::connect(address, &self.tables, &self.followers, readings).await?;
                self.replica.show(self.now());
                Ok(Backend::Postgres(database))
            }
            location => connect::connect(location, &self.tables, &self.replica).await.map(Backend::Sqlite),
        }
    }

    /// Acquires a connection that reads concurrently with transactions. Statements that must see one snapshot belong in
    /// one [`view`](crate::sql::view).
    pub async fn reader(&self) -> Result<Connection, StoreError> {
        let acquired = self.backend().await?.reader().await;
        self.explain(acquired)
    }

    /// Acquires a permit of the user and a read-only connection, to read a page.
    pub async fn reader_for(&self, user: &UserId) -> Result<UserReader, Error> {
        readers::acquire(self.backend().await?, &self.read_permits, user).await
    }

    /// Begins a write transaction of no user that the caller commits, where [`transact`](Self::transact) does not fit.
    /// The commit may be shared with others. No other process can write until it ends, so it must await nothing but the
    /// database. What it reads may be part of the same commit and be rolled back: commit before answering with it.
    pub async fn change(&self, durability: Durability) -> Result<Tx, Error> {
        self.begin((Lane::Platform, durability), true).await
    }

    /// Begins a transaction. One that decides by the clock is refused while the clock cannot be relied on.
    pub async fn begin(&self, of: (Lane<'_>, Durability), decides_by_clock: bool) -> Result<Tx, Error> {
        let database = self.backend().await?;
        if decides_by_clock {
            self.rely_on_clock().await?;
        }
        database.begin(of, decides_by_clock, self.current_name().await?, &self.clock).await
    }

    /// A receiver that changes when any process may have committed a change of the topic.
    pub async fn follow(&self, topic: impl Into<Topic>) -> Result<watch::Receiver<u64>, StoreError> {
        let database = self.backend().await?;
        let follower = self.followers.add(topic.into());
        // No other process writes to a state in memory, and PostgreSQL tells of commits by itself.
        if let (Backend::Sqlite(pools), Location::Directory(_)) = (database, &self.location) {
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

    /// Notifies the followers of a topic in this process, after a commit.
    pub fn notify(&self, topic: impl Into<Topic>) {
        self.followers.notify(topic.into());
    }

    /// The directory of the state; `None` if it is in memory or in PostgreSQL.
    pub fn directory(&self) -> Option<&Path> {
        match &self.location {
            Location::Directory(directory) => Some(directory),
            Location::Postgres(_) | Location::Memory | Location::Unavailable(_) => None,
        }
    }

    /// Single statements on PostgreSQL, each a transaction of its own; `None` if it is another database.
    pub async fn autocommit(&self) -> Result<Option<Autocommit>, StoreError> {
        Ok(self.postgres().await?.map(Autocommit::of))
    }

    /// The location as shown to operators.
    pub fn place(&self) -> String {
        self.location.name()
    }

    /// The tables of all owners.
    pub fn table_names(&self) -> impl Iterator<Item = &'static str> + use<'_> {
        self.tables.iter().flat_map(Migrations::tables)
    }

    fn unusable(&self, error: &sqlx::Error) -> StoreError {
        self.last_error.explain(error, |error| match &self.location {
            Location::Postgres(address) => postgres::unusable(address, error),
            location => error::unusable(location, error),
        })
    }
}
