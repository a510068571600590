//! Opening the file: connections, schema, checks. Safe when several processes do it at once.

use std::{io, path::Path, time::Duration};

use sqlx::{
    Connection, SqlitePool,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions},
};
use tokio::time::sleep;

use super::{
    content::{Content, inspect},
    error,
    group_commit::Writer,
    location::{FILE, Location},
    migrations::Migrations,
    replica::Replica,
};
use crate::StoreError;

/// How long one process waits for another that writes.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// How long one waits for a connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) const READERS: u32 = 4;

/// Connections that ask whether the file has changed: one asks for all who follow.
pub(crate) const FOLLOWERS: u32 = 1;

/// A file that another process opens for the first time can be busy without SQLite's own waiting.
const ATTEMPTS: u32 = 100;

/// Up to this size the write-ahead log is left alone: SQLite starts to reuse it at 4 MiB, and a large commit may come
/// on top.
pub(crate) const WAL_LIMIT: u64 = 16 << 20;

/// How often a file that seems to have lost its content is looked at again.
const CREATION_ATTEMPTS: u32 = 20;

const PAUSE: Duration = Duration::from_millis(50);

#[derive(Clone, Debug)]
pub(crate) struct Pools {
    /// The only one that writes.
    pub(crate) writer: Writer,
    /// Those that read meanwhile.
    pub(crate) readers: SqlitePool,
}

/// Opens the state, for a process.
pub(crate) async fn connect(
    place: &Location,
    tables: &[Migrations],
    replica: &Replica,
) -> Result<Pools, StoreError> {
    let pools = match place {
        Location::Unavailable(reason) => return Err(StoreError::Nowhere(reason.clone())),
        Location::Memory => in_memory(replica).await.map_err(|error| error::unusable(place, &error))?,
        Location::Directory(directory) => {
            refuse_lost(place, directory).await?;
            create(directory).await.map_err(|error| error::unusable(place, &error.into()))?;
            let opened = in_file(&directory.join(FILE), replica).await;
            opened.map_err(|error| error::unusable(place, &error))?
        }
    };
    migrate(pools.writer.pool(), place, tables, replica).await?;
    Ok(pools)
}

/// Looks through the whole file for damage.
pub(crate) async fn check(place: &Location, readers: &SqlitePool) -> Result<(), StoreError> {
    let found = sqlx::query_scalar("PRAGMA quick_check(1)").fetch_one(readers).await;
    let found: String = found.map_err(|error| error::unusable(place, &error))?;
    match found.as_str() {
        "ok" => Ok(()),
        _ => Err(StoreError::Damaged { place: place.name(), cause: "the file is damaged".to_owned() }),
    }
}

async fn in_file(path: &Path, replica: &Replica) -> Result<Pools, sqlx::Error> {
    let options = SqliteConnectOptions::new().filename(path).busy_timeout(BUSY_TIMEOUT).foreign_keys(true);
    let writing = options.clone().journal_mode(SqliteJournalMode::Wal);
    // Takes effect whenever the log is used from its beginning again.
    let writing = writing.pragma("journal_size_limit", WAL_LIMIT.to_string());
    let mut attempts = 1;
    let writer = loop {
        match pool(1).connect_with(writing.clone()).await {
            Err(error) if error::is_busy(&error) && attempts < ATTEMPTS => attempts += 1,
            opened => break opened?,
        }
        sleep(PAUSE).await;
    };
    let readers = pool(READERS + FOLLOWERS).connect_lazy_with(options.pragma("query_only", "ON"));
    Ok(Pools { writer: Writer::new(writer, replica.name()), readers })
}

/// Refuses a directory that has lost its database: SQLite would begin a new one, and what was kept would be gone.
async fn refuse_lost(place: &Location, directory: &Path) -> Result<(), StoreError> {
    let mut attempts = 0;
    loop {
        let content = inspect(directory).map_err(|error| error::unusable(place, &error.into()))?;
        let Content::Lost(cause) = content else { return Ok(()) };
        // Another process may have made the file just now, and not yet its first page.
        if attempts == CREATION_ATTEMPTS {
            return Err(StoreError::Damaged { place: place.name(), cause: cause.to_owned() });
        }
        attempts += 1;
        sleep(PAUSE).await;
    }
}

/// One connection is the whole database.
async fn in_memory(replica: &Replica) -> Result<Pools, sqlx::Error> {
    let options = SqliteConnectOptions::new().in_memory(true).foreign_keys(true);
    let writer = pool(1).connect_with(options).await?;
    Ok(Pools { readers: writer.clone(), writer: Writer::new(writer, replica.name()) })
}

/// Connections are for good: there is no server that could tire of them.
fn pool(connections: u32) -> SqlitePoolOptions {
    SqlitePoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .test_before_acquire(false)
        // SQLite ends a transaction by itself when a disk is full, and sqlx, which does not notice, would never begin
        // another: such a connection makes room for a new one.
        .before_acquire(|connection, _| {
            let is_usable = !connection.is_in_transaction();
            Box::pin(async move { Ok(is_usable) })
        })
        .idle_timeout(None)
        .max_lifetime(None)
}

/// Brings the tables of all owners up to date in one step: a second process waits, and then finds nothing left to do;
/// and what one owner refuses leaves the tables of all as they were.
async fn migrate(
    writer: &SqlitePool,
    place: &Location,
    tables: &[Migrations],
    replica: &Replica,
) -> Result<(), StoreError> {
    let begun = writer.begin_with("BEGIN IMMEDIATE").await;
    let mut change = begun.map_err(|error| error::unusable(place, &error))?;
    for migrations in tables {
        let run = migrations.run(&mut change, || replica.peers(place) > 0).await;
        run.map_err(|error| error::unmigrated(place, migrations.owner(), error))?;
    }
    change.commit().await.map_err(|error| error::unusable(place, &error))
}

/// Makes the directory and the file, readable by this user only. SQLite gives its other files the mode of this one.
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
