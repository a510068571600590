//! The write-ahead log beside the file, and its size.
//!
//! SQLite reuses the log from its beginning once everything in it is in the file and no reader needs it. It gives no
//! space back by itself, so that one reader that stayed for a while, perhaps of another program, would leave a large
//! log for good.

use std::{fs, io, path::Path, time::Duration};

use sqlx::{Connection, SqliteConnection, sqlite::SqliteConnectOptions};

use super::{
    Sqlite,
    connect::WAL_LIMIT,
    error,
    place::{FILE, Place},
};
use crate::store::StoreError;

/// How long a checkpoint waits for readers. Meanwhile nothing is written, so this is short; a read of ours is shorter.
const PATIENCE: Duration = Duration::from_millis(100);

/// The size of the log in bytes, and what became of an attempt to truncate it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wal {
    /// It is within its limit.
    Short(u64),
    /// It was beyond it and is truncated.
    Truncated(u64),
    /// It is beyond it, and somebody reads what was there before it.
    Held(u64),
}

impl Wal {
    /// The bytes that it has now.
    pub fn bytes(self) -> u64 {
        match self {
            Self::Short(bytes) | Self::Truncated(bytes) | Self::Held(bytes) => bytes,
        }
    }
}

impl Sqlite {
    /// Truncates the log if it is beyond its limit and nobody reads an earlier state. Costs one look at a file
    /// otherwise.
    pub async fn truncate_wal(&self) -> Result<Wal, StoreError> {
        let Place::Directory(directory) = &self.place else { return Ok(Wal::Short(0)) };
        let file = directory.join(FILE);
        let log = directory.join(format!("{FILE}-wal"));
        let size = || size(&log).map_err(|error| error::unusable(&self.place, &error.into()));
        let bytes = size()?;
        if bytes <= WAL_LIMIT {
            return Ok(Wal::Short(bytes));
        }
        // Boxed: it is large, and seldom.
        match Box::pin(checkpoint(&file)).await {
            Err(error) if !error::is_busy(&error) => return Err(error::unusable(&self.place, &error)),
            _ => {}
        }
        // SQLite says that it was kept from it in several ways; the size is what counts.
        let bytes = size()?;
        Ok(if bytes > WAL_LIMIT { Wal::Held(bytes) } else { Wal::Truncated(bytes) })
    }
}

/// On a connection of its own, which waits for less time than those that write.
async fn checkpoint(file: &Path) -> Result<(), sqlx::Error> {
    let options = SqliteConnectOptions::new().filename(file).busy_timeout(PATIENCE);
    let mut connection = SqliteConnection::connect_with(&options).await?;
    // Most of the work first, while others write.
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
