//! Deletion of records to free bytes, and the instant at which bytes are released.

use std::time::SystemTime;

use crate::{
    dialect,
    usage::{self, Counted},
};
use toolwire_db::{
    Error,
    sql::{Connection, Statement, sql},
};
use toolwire_tool::context::UserId;

/// Number of rows deleted by one statement: more than the one that each call adds, so that expired rows do not
/// accumulate.
const DELETED_AT_ONCE: u32 = 64;

/// Maximum number of records that [`free_at`] examines.
const MAX_EXAMINED: u32 = 4096;

/// Deletes some of the records that expire at or before an instant, the earliest first, and returns whether there were
/// any.
pub(crate) async fn delete_expired(db: &mut Connection, now: SystemTime) -> Result<bool, Error> {
    delete_first(db, sql!("expires_at <= {now}")).await
}

/// Deletes some of the records of a user's reads, the first to expire first, and returns whether there were any. A read
/// that is forgotten is read again.
pub(crate) async fn delete_reads(db: &mut Connection, user: &UserId) -> Result<bool, Error> {
    delete_first(db, sql!("reads = 1 AND user_id = {user}")).await
}

async fn delete_first(db: &mut Connection, condition: Statement) -> Result<bool, Error> {
    let delete: Statement<(String, i64)> = sql!(
        "DELETE FROM idempotency WHERE (user_id, tool, request_id) IN
         (SELECT user_id, tool, request_id FROM idempotency WHERE {..condition}
          ORDER BY expires_at LIMIT {DELETED_AT_ONCE}{..dialect::SKIP_LOCKED}) RETURNING user_id, bytes"
    );
    let deleted = delete.all(db).await?;
    let is_any = !deleted.is_empty();
    usage::account_deleted(db, Counted::CALLS, deleted).await?;
    Ok(is_any)
}

/// When the first record of a user expires.
pub(crate) fn next_end(user: &UserId) -> Statement<SystemTime> {
    sql!("SELECT coalesce(min(expires_at), 0) FROM idempotency WHERE user_id = {user}")
}

/// The instant at which records of this many bytes have expired, of all users. A lower bound if that takes more than
/// [`MAX_EXAMINED`] records.
pub(crate) fn free_at(bytes: u64) -> Statement<SystemTime> {
    sql!(
        "WITH first AS (SELECT expires_at, bytes FROM idempotency ORDER BY expires_at LIMIT {MAX_EXAMINED}),
         freed AS (SELECT expires_at, SUM(bytes) OVER (ORDER BY expires_at ROWS UNBOUNDED PRECEDING) AS bytes
                   FROM first)
         SELECT coalesce((SELECT min(expires_at) FROM freed WHERE bytes >= {bytes}),
                         (SELECT max(expires_at) FROM first), 0)"
    )
}
