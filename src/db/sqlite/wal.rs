//! The size of the write-ahead log, and its truncation.
//!
//! SQLite restarts the log from its beginning after a checkpoint has copied all frames into the database and no reader
//! needs them. It does not shrink the file, so one long read transaction, perhaps of another program, would leave a
//! large log permanently.

use std::{fs, io, path::Path, time::Duration};

use sqlx::{Connection, SqliteConnection, sqlite::SqliteConnectOptions};

use super::{connect::WAL_LIMIT, error};
use crate::{
    StoreError,
    location::{FILE, Location},
};

/// Maximum wait of a checkpoint for readers. It blocks writers, so it is short; reads of this program are shorter.
const CHECKPOINT_TIMEOUT: Duration = Duration::from_millis(100);

/// The size of the log in bytes, after an attempt to truncate it if it was over its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wal {
    Short(u64),
    /// It exceeded the limit and was truncated.
    Truncated(u64),
    /// It exceeds the limit: a read transaction still needs its frames.
    Held(u64),
}

impl Wal {
    /// The current size in bytes.
    pub fn bytes(self) -> u64 {
        match self {
            Self::Short(bytes) | Self::Truncated(bytes) | Self::Held(bytes) => bytes,
        }
    }
}

/// Truncates the log if it exceeds its limit and no read transaction needs it.
pub(crate) async fn truncate(location: &Location) -> Result<Wal, StoreError> {
    let Location::Directory(directory) = location else { return Ok(Wal::Short(0)) };
    let file = directory.join(FILE);
    let log = directory.join(format!("{FILE}-wal"));
    let size = || size(&log).map_err(|error| error::unusable(location, &error.into()));
    let bytes = size()?;
    if bytes <= WAL_LIMIT {
        return Ok(Wal::Short(bytes));
    }
    // Boxed: the future is large and rarely needed.
    match Box::pin(checkpoint(&file)).await {
        Err(error) if !error::is_busy(&error) => return Err(error::unusable(location, &error)),
        _ => {}
    }
    // SQLite reports a blocked checkpoint in several ways; only the size is reliable.
    let bytes = size()?;
    Ok(if bytes > WAL_LIMIT { Wal::Held(bytes) } else { Wal::Truncated(bytes) })
}

/// Uses a separate connection, with a shorter busy timeout than writers have.
async fn checkpoint(file: &Path) -> Result<(), sqlx::Error> {
    let options = SqliteConnectOptions::new().filename(file).busy_timeout(CHECKPOINT_TIMEOUT);
    let mut connection = SqliteConnection::connect_with(&options).await?;
    // PASSIVE first: it copies most frames without blocking writers.
    for statement in ["PRAGMA wal_checkpoint(PASSIVE)", "PRAGMA wal_checkpoint(TRUNCATE)"] {
        sqlx::query(statement).execute(&mut connection).await?;
    }
    connection.close().await
}

fn size(path: &Path) -> io::Result<u64> {
    match fs::metadata(path) {
        Ok(metadata) => Ok(metadata.len()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        Err(error) => Err(error),
    }
}
