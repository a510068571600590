//! Opening the file: connections, schema, checks. Safe when several processes do it at once.

use std::{io, path::Path, time::Duration};

use sqlx::{
    SqlitePool,
    migrate::{MigrateError, Migrator},
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions},
};
use tokio::time::sleep;

use super::{Place, Pools, error};
use crate::store::StoreError;

/// The file in the state directory.
pub(super) const FILE: &str = "toolwire.db";

/// How long one process waits for another that writes.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a change waits for the changes before it, and for a connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(10);

/// Readers at once.
const READERS: u32 = 4;

/// A file that another process opens for the first time can be busy without SQLite's own waiting.
const ATTEMPTS: u32 = 100;

/// Between two attempts.
const PAUSE: Duration = Duration::from_millis(50);

/// What the tables are. A change of them is one more file there.
static MIGRATIONS: Migrator = sqlx::migrate!("./migrations");

/// Opens the state.
pub(super) async fn connect(place: &Place) -> Result<Pools, StoreError> {
    let pools = match place {
        Place::Nowhere(reason) => return Err(StoreError(reason.clone())),
        Place::Memory => in_memory().await.map_err(|error| error::unusable(place, &error))?,
        Place::Directory(directory) => {
            create(directory).await.map_err(|error| error::unusable(place, &error.into()))?;
            in_file(&directory.join(FILE)).await.map_err(|error| error::unusable(place, &error))?
        }
    };
    migrate(&pools.writer).await.map_err(|error| error::unmigrated(place, error))?;
    Ok(pools)
}

/// Looks through the whole file for damage.
pub(super) async fn check(readers: &SqlitePool) -> Result<(), sqlx::Error> {
    let found: String = sqlx::query_scalar("PRAGMA quick_check(1)").fetch_one(readers).await?;
    if found == "ok" { Ok(()) } else { Err(sqlx::Error::Protocol(error::DAMAGED.to_owned())) }
}

async fn in_file(path: &Path) -> Result<Pools, sqlx::Error> {
    let options = SqliteConnectOptions::new().filename(path).busy_timeout(BUSY_TIMEOUT).foreign_keys(true);
    let writing = options.clone().journal_mode(SqliteJournalMode::Wal);
    let mut attempts = 1;
    let writer = loop {
        match pool(1).connect_with(writing.clone()).await {
            Err(error) if error::is_busy(&error) && attempts < ATTEMPTS => attempts += 1,
            opened => break opened?,
        }
        sleep(PAUSE).await;
    };
    let readers = pool(READERS).connect_lazy_with(options.pragma("query_only", "ON"));
    Ok(Pools { writer, readers })
}

/// One connection is the whole database.
async fn in_memory() -> Result<Pools, sqlx::Error> {
    let options = SqliteConnectOptions::new().in_memory(true).foreign_keys(true);
    let writer = pool(1).connect_with(options).await?;
    Ok(Pools { readers: writer.clone(), writer })
}

/// Connections are for good: there is no server that could tire of them.
fn pool(connections: u32) -> SqlitePoolOptions {
    SqlitePoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .test_before_acquire(false)
        .idle_timeout(None)
        .max_lifetime(None)
}

/// Brings the tables up to date in one step: a second process waits, and then finds nothing left to do.
async fn migrate(writer: &SqlitePool) -> Result<(), MigrateError> {
    let mut change = writer.begin_with("BEGIN IMMEDIATE").await?;
    // What `run` does, which the compiler does not let into a future that can be sent.
    MIGRATIONS.run_direct(None, &mut *change, false).await?;
    Ok(change.commit().await?)
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
