//! The table `recordings`.

use std::time::SystemTime;

use super::{NewRecording, Recording};
use crate::dialect;
use toolwire_db::sql::{Statement, insert, record, select, sql};
use toolwire_tool::context::{CallId, UserId};

/// Number of rows deleted by one statement.
const DELETED_AT_ONCE: u64 = 100;

/// Estimated bytes of a row and its entries in indexes, without its data.
const ROW: usize = 256;

record!(Recording, "recording", { sealed, expires_at });

/// The bytes that a recording counts for.
pub(crate) fn bytes_of(recording: &NewRecording) -> u64 {
    (ROW + 2 * recording.user.as_str().len() + recording.sealed.len()) as u64
}

pub(crate) fn find(call_id: CallId, now: SystemTime) -> Statement<Recording> {
    select!(Recording, "FROM recordings WHERE call_id = {call_id} AND expires_at > {now}")
}

/// Inserts a recording, unless the call has one.
pub(crate) fn insert(recording: &NewRecording, expires_at: SystemTime) -> Statement {
    let bytes = i64::try_from(bytes_of(recording)).unwrap_or(i64::MAX);
    let NewRecording { user, call_id, sealed } = recording;
    let insert = insert! { recordings:
        call_id = *call_id, user_id = user, sealed = sealed.as_slice(), bytes, expires_at,
    };
    insert.and(" ON CONFLICT (call_id) DO NOTHING")
}

/// The bytes of a user's recordings, and their number.
pub(crate) fn usage_of(user: &UserId) -> Statement<(i64, i64)> {
    sql!("SELECT CAST(coalesce(sum(bytes), 0) AS BIGINT), count(*) FROM recordings WHERE user_id = {user}")
}

/// Deletes some of the oldest recordings of a user. Returns the calls.
pub(crate) fn delete_oldest_of(user: &UserId, limit: u64) -> Statement<CallId> {
    delete_first(sql!("WHERE user_id = {user}"), limit.min(DELETED_AT_ONCE))
}

/// Deletes some of the recordings that expire at or before an instant. Returns the calls.
pub(crate) fn delete_expired(now: SystemTime) -> Statement<CallId> {
    delete_first(sql!("WHERE expires_at <= {now}"), DELETED_AT_ONCE)
}

/// Deletes the first to expire.
fn delete_first(condition: Statement, limit: u64) -> Statement<CallId> {
    sql!(
        "DELETE FROM recordings WHERE call_id IN
         (SELECT call_id FROM recordings {..condition} ORDER BY expires_at, call_id LIMIT {limit}
          {..dialect::SKIP_LOCKED})
         RETURNING call_id"
    )
}
