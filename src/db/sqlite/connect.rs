//! Opens the file: connections, migrations, checks. Safe for several processes at once.

use std::{future::ready, io, path::Path, sync::Arc, time::Duration};

use sqlx::{
    Connection, SqlitePool,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions},
};
use tokio::time::sleep;

use super::{
    content::{Content, inspect},
    error,
    group_commit::Writer,
    migrate,
    open_files::OpenFiles,
    replica::Replica,
};
use crate::{
    Migrations, StoreError,
    location::{FILE, Location},
    turns::Turns,
};

/// SQLite's busy timeout: the maximum wait for another process that writes.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum wait for a connection of the pool.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) const READERS: u32 = 4;

/// Connections that poll for commits of other processes: one polls for all followers.
pub(crate) const FOLLOWERS: u32 = 1;

/// Attempts to open a file that another process opens for the first time: SQLite's busy timeout does not apply there.
const OPEN_ATTEMPTS: u32 = 100;

/// The write-ahead log is not truncated up to this many bytes: SQLite restarts it at 4 MiB, and a large commit may come
/// on top.
pub(crate) const WAL_LIMIT: u64 = 16 << 20;

/// Attempts to inspect a file that seems to have lost its content.
const CREATION_ATTEMPTS: u32 = 20;

const RETRY_DELAY: Duration = Duration::from_millis(50);

#[derive(Clone, Debug)]
pub(crate) struct Pools {
    /// The only connection that writes.
    pub(crate) writer: Writer,
    /// Connections that read concurrently with the writer.
    pub(crate) readers: SqlitePool,
    /// Turns at the readers, among users.
    pub(crate) turns: Turns,
}

/// Opens the state and migrates its tables.
pub(crate) async fn connect(
    location: &Location,
    tables: &[Migrations],
    replica: &Replica,
) -> Result<Pools, StoreError> {
    let pools = match location {
        Location::Postgres(_) => unreachable!("it is no file"),
        Location::Unavailable(reason) => return Err(StoreError::Nowhere(reason.clone())),
        Location::Memory => in_memory().await.map_err(|error| error::unusable(location, &error))?,
        Location::Directory(directory) => {
            // Before the file is created: beside other files of a state, an empty one counts as lost.
            refuse_lost(location, directory).await?;
            create(directory).await.map_err(|error| error::unusable(location, &error.into()))?;
            let opened = in_file(&directory.join(FILE)).await;
            opened.map_err(|error| error::unusable(location, &error))?
        }
    };
    migrate(pools.writer.pool(), location, tables, replica).await?;
    pools.writer.check_files().map_err(|error| error::unusable(location, &error))?;
    Ok(pools)
}

/// Checks the whole file for damage.
pub(crate) async fn check(location: &Location, readers: &SqlitePool) -> Result<(), StoreError> {
    let verdict = sqlx::query_scalar("PRAGMA quick_check(1)").fetch_one(readers).await;
    let verdict: String = verdict.map_err(|error| error::unusable(location, &error))?;
    match verdict.as_str() {
        "ok" => Ok(()),
        _ => Err(StoreError::Damaged { place: location.name(), cause: "the file is damaged".to_owned() }),
    }
}

async fn in_file(path: &Path) -> Result<Pools, sqlx::Error> {
    let options = SqliteConnectOptions::new().filename(path).busy_timeout(BUSY_TIMEOUT).foreign_keys(true);
    let writing = options.clone().journal_mode(SqliteJournalMode::Wal);
    // Takes effect when the log restarts from its beginning.
    let writing = writing.pragma("journal_size_limit", WAL_LIMIT.to_string());
    let files = Arc::new(OpenFiles::at(path));
    let mut attempts = 1;
    let writer = loop {
        let files = Arc::clone(&files);
        let writer = pool(1).after_connect(move |_, _| {
            files.forget_log();
            Box::pin(ready(Ok(())))
        });
        match writer.connect_with(writing.clone()).await {
            Err(error) if error::is_busy(&error) && attempts < OPEN_ATTEMPTS => attempts += 1,
            opened => break opened?,
        }
        sleep(RETRY_DELAY).await;
    };
    let readers = pool(READERS + FOLLOWERS).connect_lazy_with(options.pragma("query_only", "ON"));
    let turns = Turns::new(READERS + FOLLOWERS, ACQUIRE_TIMEOUT);
    Ok(Pools { writer: Writer::new(writer, Some(files)), readers, turns })
}

/// Refuses a directory that has lost its database: SQLite would create an empty one in its place.
async fn refuse_lost(location: &Location, directory: &Path) -> Result<(), StoreError> {
    let mut attempts = 0;
    loop {
        let content = inspect(directory).map_err(|error| error::unusable(location, &error.into()))?;
        let Content::Lost(cause) = content else { return Ok(()) };
        // Another process may have just created the file and not yet written its first page.
        if attempts == CREATION_ATTEMPTS {
            return Err(StoreError::Damaged { place: location.name(), cause: cause.to_owned() });
        }
        attempts += 1;
        sleep(RETRY_DELAY).await;
    }
}

/// The connection is the database, so the pools share it.
async fn in_memory() -> Result<Pools, sqlx::Error> {
    let options = SqliteConnectOptions::new().in_memory(true).foreign_keys(true);
    let writer = pool(1).connect_with(options).await?;
    let turns = Turns::new(1, ACQUIRE_TIMEOUT);
    Ok(Pools { readers: writer.clone(), writer: Writer::new(writer, None), turns })
}

/// A pool whose connections never expire, since no server could close them.
fn pool(connections: u32) -> SqlitePoolOptions {
    SqlitePoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .test_before_acquire(false)
        // SQLite rolls a transaction back by itself when the disk is full. sqlx does not notice and could never begin
        // another, so such a connection is replaced.
        .before_acquire(|connection, _| {
            let is_usable = !connection.is_in_transaction();
            Box::pin(async move { Ok(is_usable) })
        })
        .idle_timeout(None)
        .max_lifetime(None)
}

/// Migrates the tables of all owners in one transaction: a concurrent process waits and then finds nothing to do, and a
/// failure of one owner leaves all tables unchanged.
async fn migrate(
    writer: &SqlitePool,
    location: &Location,
    tables: &[Migrations],
    replica: &Replica,
) -> Result<(), StoreError> {
    let begun = writer.begin_with("BEGIN IMMEDIATE").await;
    let mut tx = begun.map_err(|error| error::unusable(location, &error))?;
    for migrations in tables {
        let applied = migrate::run(migrations, &mut tx, || replica.peers(location) > 0).await;
        applied.map_err(|error| error::migration_failed(location, migrations.owner(), error))?;
    }
    tx.commit().await.map_err(|error| error::unusable(location, &error))
}

/// Creates the directory and the file, accessible by this user only. SQLite gives its other files the same mode.
async fn create(directory: &Path) -> io::Result<()> {
    let mut builder = tokio::fs::DirBuilder::new();
    let mut options = tokio::fs::OpenOptions::new();
    #[cfg(unix)]
    {
        builder.mode(0o700);
        options.mode(0o600);
    }
    builder.recursive(true).create(directory).await?;
    options.write(true).create(true).truncate(false).open(directory.join(FILE)).await?;
    Ok(())
}
