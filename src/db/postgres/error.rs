//! Conversion of errors of the database to [`StoreError`].

use std::io::ErrorKind;

use sqlx::migrate::MigrateError;

use super::address::Address;
use crate::{Error, StoreError, sql::LOCK_NOT_AVAILABLE};

const SERIALIZATION_FAILURE: &str = "40001";
const DEADLOCK: &str = "40P01";
const QUERY_CANCELED: &str = "57014";
const DISK_FULL: &str = "53100";
const INSUFFICIENT_PRIVILEGE: &str = "42501";
/// Of a schema that the user may not use, which is passed over in the search path.
const INVALID_SCHEMA_NAME: &str = "3F000";
/// Of a transaction that began on a standby.
const READ_ONLY: &str = "25006";
/// Of a pooler that refuses the options of a session.
const PROTOCOL_VIOLATION: &str = "08P01";

/// What to do about a connection that TLS refuses.
const OF_TLS: &str = "See sslmode and the certificates of the address";

/// Whether a transaction was rolled back because of others, and may be run again.
pub(crate) fn is_conflict(error: &sqlx::Error) -> bool {
    matches!(code(error).as_deref(), Some(SERIALIZATION_FAILURE | DEADLOCK))
}

/// Whether the server has closed the connection.
pub(super) fn is_lost(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::Io(_))
        || code(error).is_some_and(|code| code.starts_with("57P") || code.starts_with("08"))
}

/// The error of a state that cannot be used.
pub(crate) fn unusable(address: &Address, error: &sqlx::Error) -> StoreError {
    let place = address.to_string();
    let cause = match error {
        sqlx::Error::Database(error) => error.message().to_owned(),
        sqlx::Error::PoolTimedOut => {
            "no connection was made, or became free, in time; the log of the database says if it has too many"
                .to_owned()
        }
        other => other.to_string(),
    };
    match code(error).as_deref() {
        Some(DISK_FULL) => StoreError::Full { place, cause },
        Some(LOCK_NOT_AVAILABLE | QUERY_CANCELED | SERIALIZATION_FAILURE | DEADLOCK) => {
            StoreError::Slow { place, cause }
        }
        Some(PROTOCOL_VIOLATION) if cause.starts_with("unsupported startup parameter") => {
            pooled(address, &cause)
        }
        Some(INSUFFICIENT_PRIVILEGE | INVALID_SCHEMA_NAME) => refused(address, &cause, &grants(address)),
        Some(READ_ONLY) => refused(address, READ_ONLY_CAUSE, &read_only_remedy(address)),
        // Classes of a server that starts, stops or has no connection left, and of a lost connection.
        Some(code) if !["08", "53", "57"].contains(&&code[..2]) => {
            StoreError::Refused { place, cause, remedy: "See the log of the database".to_owned() }
        }
        _ => match error {
            sqlx::Error::ColumnDecode { .. }
            | sqlx::Error::ColumnNotFound(_)
            | sqlx::Error::ColumnIndexOutOfBounds { .. }
            | sqlx::Error::Decode(_)
            | sqlx::Error::RowNotFound
            | sqlx::Error::TypeNotFound { .. } => StoreError::Unreadable { what: "row", cause },
            sqlx::Error::Tls(_) | sqlx::Error::Configuration(_) => refused(address, &cause, OF_TLS),
            // So rustls says that a certificate does not hold.
            sqlx::Error::Io(error) if error.kind() == ErrorKind::InvalidData => {
                refused(address, &cause, OF_TLS)
            }
            _ => StoreError::Unreachable { place, cause },
        },
    }
}

/// The error of an error within a transaction.
pub(super) fn explain(address: &Address, error: Error) -> StoreError {
    match error {
        Error::Store(error) => error,
        Error::Database(error) => unusable(address, &error),
        Error::Shared(error) => unusable(address, &error),
    }
}

/// The error of an address that should be the database's own, and is a pooler's.
pub(super) fn pooled(address: &Address, cause: &str) -> StoreError {
    let remedy = if address.is_pooled() {
        "Name the database itself in state.direct_url"
    } else {
        "Set state.pooled = true, and state.direct_url to the address of the database itself"
    };
    refused(address, cause, remedy)
}

/// Of a transaction that may only read.
const READ_ONLY_CAUSE: &str =
    "its transactions are read-only: it is a standby, or default_transaction_read_only is on";

/// What to do about transactions that may only read.
pub(super) fn read_only_remedy(address: &Address) -> String {
    let (user, database) = (address.user(), address.database());
    format!(
        "{STANDBY}, or run: ALTER ROLE \"{user}\" SET default_transaction_read_only = off; ALTER DATABASE \"{database}\" \
         SET default_transaction_read_only = off"
    )
}

/// What to do about a standby.
pub(super) const STANDBY: &str = "Name the primary";

pub(super) fn refused(address: &Address, cause: &str, remedy: &str) -> StoreError {
    StoreError::Refused { place: address.to_string(), cause: cause.to_owned(), remedy: remedy.to_owned() }
}

/// What the owner of the database must do, so that the user can make and use the tables.
fn grants(address: &Address) -> String {
    let (schema, user, database) = (address.schema(), address.user(), address.database());
    format!(
        "As the owner of the database, run: CREATE SCHEMA IF NOT EXISTS {schema} AUTHORIZATION \"{user}\"; or, for an \
         existing schema: GRANT USAGE, CREATE ON SCHEMA {schema} TO \"{user}\"; GRANT CONNECT ON DATABASE \
         \"{database}\" TO \"{user}\""
    )
}

/// The error of a failed migration of an owner's tables.
pub(super) fn migration_failed(address: &Address, owner: &str, error: MigrateError) -> StoreError {
    let newer = |version| {
        let cause = format!("{owner} has schema {version} of a newer toolwire, which this one does not know");
        refused(address, &cause, "Use that one, or name another schema; nothing was changed")
    };
    match error {
        MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => unusable(address, &error),
        MigrateError::VersionMissing(version) => newer(version),
        MigrateError::VersionMismatch(version) => refused(
            address,
            &format!("it was made by another version of migration {version} of {owner}"),
            "Restore the migration as it was released; nothing was changed",
        ),
        other => refused(address, &format!("{owner}: {other}"), "Name another schema; nothing was changed"),
    }
}

fn code(error: &sqlx::Error) -> Option<String> {
    Some(error.as_database_error()?.code()?.into_owned())
}
