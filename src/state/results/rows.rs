//! The table `results`. Its bytes are counted.

use std::time::{Duration, SystemTime};

use crate::{
    outcome::OutcomeColumns,
    results::{ResultKey, StoredResult},
    usage,
};
use toolwire_db::{
    Error,
    sql::{Connection, Statement, insert, record, select, sql},
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
    db: &mut Connection,
    key: &ResultKey,
    now: SystemTime,
) -> Result<Option<StoredResult>, Error> {
    let find = select!(Entry, "FROM results WHERE key = {key.as_slice()} AND expires_at > {now}");
    let Some(entry) = find.optional(db).await? else { return Ok(None) };
    let Entry { output_message, outcome, stored_at, expires_at } = entry;
    let (outcome, provenance) = outcome.outcome()?;
    let ttl = expires_at.duration_since(stored_at).unwrap_or_default();
    Ok(Some(StoredResult { output_message, outcome, provenance, stored_at, ttl }))
}

/// Inserts a result that counts for this many bytes.
pub(crate) fn insert(
    key: &ResultKey,
    output_message: Option<&str>,
    OutcomeColumns { description, data }: &OutcomeColumns,
    (stored_at, ttl): (SystemTime, Duration),
    bytes: u64,
) -> Statement {
    let expires_at = millis(stored_at).saturating_add(length(ttl));
    let added = i64::try_from(bytes).unwrap_or(i64::MAX);
    insert! { results: key = key.as_slice(), output_message, kept = description, data, bytes, stored_at, expires_at }
        .and("; ")
        .and(usage::add_result_bytes(added))
}

/// Deletes the result of a key, and the results that expire at or before an instant.
pub(crate) async fn delete_expired(
    db: &mut Connection,
    key: &ResultKey,
    now: SystemTime,
) -> Result<(), Error> {
    delete(db, sql!("key = {key.as_slice()} OR expires_at <= {now}")).await.map(drop)
}

/// Deletes some of the oldest results and returns whether there were any.
pub(crate) async fn delete_oldest(db: &mut Connection, limit: u32) -> Result<bool, Error> {
    delete(db, sql!("key IN (SELECT key FROM results ORDER BY stored_at LIMIT {limit})")).await
}

/// Deletes results and returns whether there were any.
async fn delete(db: &mut Connection, condition: Statement) -> Result<bool, Error> {
    let delete: Statement<i64> = sql!("DELETE FROM results WHERE {..condition} RETURNING bytes");
    let deleted = delete.all(db).await?;
    if deleted.is_empty() {
        return Ok(false);
    }
    usage::add_result_bytes(-deleted.iter().sum::<i64>()).run(db).await?;
    Ok(true)
}
