//! The table `kept_results`. Its rows and bytes are counted.

use std::time::SystemTime;

use crate::{
    dialect,
    kept_results::{KeptResult, NewKeptResult},
    usage::{self, Counted},
};
use toolwire_db::{
    Error,
    sql::{Connection, Json, Statement, insert, record, select, sql},
};
use toolwire_tool::context::{CallId, UserId};

/// Number of rows deleted by one statement.
const DELETED_AT_ONCE: u32 = 16;

/// Estimated bytes of a row without its columns of variable length.
const ROW: usize = 256;

record!(KeptResult, "kept result", { tool, text, tokens, provenance via Json, expires_at });

/// The bytes that a result counts for.
pub(crate) fn bytes_of(user: &UserId, result: &NewKeptResult<'_>) -> u64 {
    (ROW + 2 * user.as_str().len() + result.text.len()) as u64
}

pub(crate) fn find(user: &UserId, call_id: CallId, now: SystemTime) -> Statement<KeptResult> {
    select!(
        KeptResult,
        "FROM kept_results WHERE user_id = {user} AND call_id = {call_id} AND expires_at > {now}"
    )
}

pub(crate) async fn insert(
    db: &mut Connection,
    (user, call_id): (&UserId, CallId),
    result: &NewKeptResult<'_>,
    bytes: u64,
    expires_at: SystemTime,
) -> Result<(), Error> {
    let NewKeptResult { tool, text, tokens, provenance } = *result;
    let insert = insert! { kept_results:
        user_id = user, call_id, tool, text, tokens, provenance = Json(provenance), bytes, expires_at,
    };
    let added = i64::try_from(bytes).unwrap_or(i64::MAX);
    usage::execute_and_account(db, insert, Counted::KEPT_RESULTS, user.as_str(), 1, added).await
}

/// Deletes some of the results that expire at or before an instant, and returns whether there were any.
pub(crate) async fn delete_expired(db: &mut Connection, now: SystemTime) -> Result<bool, Error> {
    delete_first(db, sql!("WHERE expires_at <= {now}")).await
}

/// Deletes some of the oldest results, and returns whether there were any.
pub(crate) async fn delete_oldest(db: &mut Connection) -> Result<bool, Error> {
    delete_first(db, Statement::default()).await
}

/// The same of one user.
pub(crate) async fn delete_oldest_of(db: &mut Connection, user: &UserId) -> Result<bool, Error> {
    delete_first(db, sql!("WHERE user_id = {user}")).await
}

/// Deletes the first to expire.
async fn delete_first(db: &mut Connection, condition: Statement) -> Result<bool, Error> {
    let delete: Statement<(String, i64)> = sql!(
        "DELETE FROM kept_results WHERE (user_id, call_id) IN
         (SELECT user_id, call_id FROM kept_results {..condition} ORDER BY expires_at LIMIT {DELETED_AT_ONCE}
          {..dialect::SKIP_LOCKED})
         RETURNING user_id, bytes"
    );
    let deleted = delete.all(db).await?;
    let is_any = !deleted.is_empty();
    usage::account_deleted(db, Counted::KEPT_RESULTS, deleted).await?;
    Ok(is_any)
}
