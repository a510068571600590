//! Conversion of database errors to [`StoreError`].

use std::error::Error;

use sqlx::migrate::MigrateError;

use super::{migrate::MigrationError, open_files::Replaced};
use crate::{StoreError, location::Location};

/// Primary result codes of SQLite. `STATEMENT` is that of a statement that does not match the existing tables.
const STATEMENT: u32 = 1;
const BUSY: u32 = 5;
const CORRUPT: u32 = 11;
const FULL: u32 = 13;
const NOT_A_DATABASE: u32 = 26;

/// The error of a state that cannot be used.
pub(crate) fn unusable(location: &Location, error: &sqlx::Error) -> StoreError {
    let (place, cause) = (location.name(), message(error));
    match (primary_code(error), error) {
        (Some(CORRUPT | NOT_A_DATABASE), _) => StoreError::Damaged { place, cause },
        (Some(FULL), _) => StoreError::Full { place, cause },
        (Some(BUSY), _) => StoreError::Busy { place, cause },
        (_, sqlx::Error::PoolTimedOut) => StoreError::Crowded,
        (_, sqlx::Error::Io(error))
            if error.get_ref().is_some_and(<dyn Error + Send + Sync>::is::<Replaced>) =>
        {
            StoreError::Replaced { place, cause }
        }
        _ => StoreError::Unavailable { place, cause },
    }
}

/// The error of a failed migration of an owner's tables.
pub(crate) fn migration_failed(location: &Location, owner: String, error: MigrationError) -> StoreError {
    match error {
        MigrationError::Failed(MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _))
            if primary_code(&error) != Some(STATEMENT) =>
        {
            unusable(location, &error)
        }
        MigrationError::Failed(MigrateError::VersionMissing(version)) => {
            StoreError::Newer { place: location.name(), owner, version }
        }
        MigrationError::Failed(MigrateError::VersionMismatch(version)) => {
            StoreError::Changed { place: location.name(), owner, version }
        }
        MigrationError::InUse(_) => StoreError::InUse { place: location.name() },
        other => StoreError::Foreign { place: location.name(), owner, cause: other.to_string() },
    }
}

/// Whether another process holds the file.
pub(crate) fn is_busy(error: &sqlx::Error) -> bool {
    primary_code(error) == Some(BUSY)
}

fn message(error: &sqlx::Error) -> String {
    match error {
        sqlx::Error::Database(error) => error.message().to_owned(),
        sqlx::Error::Io(error) => error.to_string(),
        other => other.to_string(),
    }
}

/// Extended result codes contain the primary one in their lowest byte.
fn primary_code(error: &sqlx::Error) -> Option<u32> {
    let code: u32 = error.as_database_error()?.code()?.parse().ok()?;
    Some(code & 0xff)
}

#[cfg(test)]
mod tests {
    use sqlx::{Connection, SqliteConnection};

    use super::*;

    /// The error of the last of some statements.
    async fn error_of(statements: &[&'static str]) -> StoreError {
        let mut connection = SqliteConnection::connect("sqlite::memory:").await.unwrap();
        let mut last = Ok(());
        for statement in statements {
            last = sqlx::query(*statement).execute(&mut connection).await.map(|_| ());
        }
        unusable(&Location::Memory, &last.unwrap_err())
    }

    #[tokio::test]
    async fn a_full_disk_is_told_from_what_cannot_be_written() {
        let full = error_of(&["PRAGMA max_page_count = 2", "CREATE TABLE a (b)", "CREATE TABLE c (d)"]).await;
        assert!(matches!(full, StoreError::Full { .. }), "{full:?}");
        let readonly = error_of(&["PRAGMA query_only = ON", "CREATE TABLE a (b)"]).await;
        assert!(matches!(readonly, StoreError::Unavailable { .. }), "{readonly:?}");
    }

    #[tokio::test]
    async fn a_file_that_another_connection_keeps_is_busy() {
        let directory = tempfile::tempdir().unwrap();
        let path = format!("sqlite:{}?mode=rwc", directory.path().join("a.db").display());
        let mut holder = SqliteConnection::connect(&path).await.unwrap();
        sqlx::query("BEGIN EXCLUSIVE").execute(&mut holder).await.unwrap();
        let mut other = SqliteConnection::connect(&path).await.unwrap();
        sqlx::query("PRAGMA busy_timeout = 0").execute(&mut other).await.unwrap();
        let error = sqlx::query("BEGIN IMMEDIATE").execute(&mut other).await.unwrap_err();
        let busy = unusable(&Location::Memory, &error);
        assert!(is_busy(&error) && matches!(busy, StoreError::Busy { .. }), "{busy:?}");
    }
}
