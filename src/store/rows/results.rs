//! The table `results`. Its bytes are counted.

use std::time::{Duration, SystemTime};

use super::{outcome::OutcomeColumns, usage};
use crate::{
    Error,
    results::{ResultKey, StoredResult},
    select, sql,
    sql::{Connection, Scalar, Statement, record},
    time::{length, millis},
};

struct Entry {
    output_message: Option<String>,
    outcome: OutcomeColumns,
    stored_at: SystemTime,
    expires_at: SystemTime,
}

record!(Entry, "result", { output_message, outcome: .., stored_at, expires_at });

/// The result of a key, if it expires after an instant.
pub(crate) async fn find(
    connection: &mut Connection,
    key: &ResultKey,
    now: SystemTime,
) -> Result<Option<StoredResult>, Error> {
    let find = select!(Entry, "FROM results WHERE key = ", key.as_slice(), " AND expires_at > ", now);
    let Some(entry) = find.optional(connection).await? else { return Ok(None) };
    let Entry { output_message, outcome, stored_at, expires_at } = entry;
    let (outcome, provenance) = outcome.outcome()?;
    let ttl = expires_at.duration_since(stored_at).unwrap_or_default();
    Ok(Some(StoredResult { output_message, outcome, provenance, stored_at, ttl }))
}

/// Inserts a result of a number of bytes.
pub(crate) async fn insert(
    connection: &mut Connection,
    key: &ResultKey,
    output_message: Option<&str>,
    outcome: &OutcomeColumns,
    (stored_at, ttl): (SystemTime, Duration),
    bytes: u64,
) -> Result<(), Error> {
    let columns = [
        ("key", key.as_slice().into()),
        ("output_message", output_message.into()),
        ("kept", (&outcome.description).into()),
        ("data", (&outcome.data).into()),
        ("bytes", bytes.into()),
        ("stored_at", stored_at.into()),
        ("expires_at", millis(stored_at).saturating_add(length(ttl)).into()),
    ];
    let insert = Statement::insert("results", columns);
    let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
    usage::execute_and_account_results(connection, insert, bytes).await
}

/// Deletes the one of a key, and those that expire at or before an instant.
pub(crate) async fn delete_expired(
    connection: &mut Connection,
    key: &ResultKey,
    now: SystemTime,
) -> Result<(), Error> {
    let delete = sql! {
        "DELETE FROM results WHERE key = ", key.as_slice(),
        " OR expires_at <= ", now,
        " RETURNING bytes"
    };
    account_deleted(connection, delete).await?;
    Ok(())
}

/// Deletes some of the oldest and returns whether there were any.
pub(crate) async fn delete_oldest(connection: &mut Connection, limit: u32) -> Result<bool, Error> {
    let delete = sql! {
        "DELETE FROM results WHERE key IN (SELECT key FROM results ORDER BY stored_at LIMIT ", limit,
        ") RETURNING bytes"
    };
    account_deleted(connection, delete).await
}

/// Executes a deletion that returns bytes, and returns whether it deleted any row.
async fn account_deleted(connection: &mut Connection, delete: Statement) -> Result<bool, Error> {
    let deleted: Vec<Scalar<i64>> = delete.all(connection).await?;
    if deleted.is_empty() {
        return Ok(false);
    }
    let bytes: i64 = deleted.iter().map(|Scalar(bytes)| bytes).sum();
    usage::execute_and_account_results(connection, Statement::default(), -bytes).await?;
    Ok(true)
}
