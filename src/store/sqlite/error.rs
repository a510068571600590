//! What is wrong with the state, for operators: where, what, and what to do.

use sqlx::migrate::MigrateError;

use super::{Place, connect::FILE};
use crate::store::StoreError;

/// What a check finds in a damaged file.
pub(super) const DAMAGED: &str = "the file is damaged";

/// Primary result codes of SQLite.
const BUSY: u32 = 5;
const CORRUPT: u32 = 11;
const FULL: u32 = 13;
const NOT_A_DATABASE: u32 = 26;

/// The state cannot be used.
pub(super) fn unusable(place: &Place, error: &sqlx::Error) -> StoreError {
    let advice = match (primary_code(error), error) {
        (Some(CORRUPT | NOT_A_DATABASE), _) | (None, sqlx::Error::Protocol(_)) => {
            "Restore a copy of it, or move it and the files toolwire.db-* beside it away: requests that were repeated \
             since would then be carried out again"
        }
        (Some(FULL), _) => "Make room on its disk",
        (Some(BUSY), _) | (_, sqlx::Error::PoolTimedOut) => {
            "Another process keeps it busy: end it, or name another directory with --state DIR"
        }
        _ => "Make it writable for this user, or name another directory with --state DIR",
    };
    StoreError(format!("the state in {} cannot be used: {}. {advice}", name(place), words(error)))
}

/// The tables cannot be brought up to date.
pub(super) fn unmigrated(place: &Place, error: MigrateError) -> StoreError {
    match error {
        MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => unusable(place, &error),
        MigrateError::VersionMissing(version) => StoreError(format!(
            "the state in {} is of a newer toolwire: it has schema {version}, which this one does not know. Use that \
             one, or name another directory with --state DIR",
            name(place)
        )),
        other => StoreError(format!(
            "the state in {} is not of this toolwire: {other}. Name another directory with --state DIR",
            name(place)
        )),
    }
}

/// Whether another process holds the file.
pub(super) fn is_busy(error: &sqlx::Error) -> bool {
    primary_code(error) == Some(BUSY)
}

fn name(place: &Place) -> String {
    match place {
        Place::Directory(directory) => directory.join(FILE).display().to_string(),
        Place::Memory | Place::Nowhere(_) => "memory".to_owned(),
    }
}

fn words(error: &sqlx::Error) -> String {
    match error {
        sqlx::Error::Database(error) => error.message().to_owned(),
        sqlx::Error::Io(error) => error.to_string(),
        sqlx::Error::Protocol(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Extended result codes hold the primary one in their lowest byte.
fn primary_code(error: &sqlx::Error) -> Option<u32> {
    let code: u32 = error.as_database_error()?.code()?.parse().ok()?;
    Some(code & 0xff)
}
