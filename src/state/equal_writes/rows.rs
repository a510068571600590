//! The table `equal_writes`: writes that lend their `request_id`.

use std::time::SystemTime;

use crate::{
    calls::rows::State,
    dialect,
    equal_writes::{Claim, EqualWrite},
    idempotency::Key,
};
use toolwire_db::sql::{AsText, Statement, insert, record, sql};
use toolwire_tool::context::{RequestId, TaskLabel};

/// Expired rows that one claim deletes: more than it inserts, so that they become fewer.
const DELETED_AT_ONCE: u32 = 16;

/// A row with the state of its call.
pub(crate) struct Lender {
    pub(crate) request_id: RequestId,
    pub(crate) created_at: SystemTime,
    /// `None` without a record of the call: then nothing was begun, or nothing was done.
    pub(crate) begun_at: Option<SystemTime>,
    /// The end of the call, or of an attempt that waits for a person.
    pub(crate) ended_at: Option<SystemTime>,
    pub(crate) code: Option<String>,
    pub(crate) is_under_way: bool,
    /// When the open confirmation of the call, or of one nested in it, expires.
    pub(crate) open_until: Option<SystemTime>,
}

record!(Lender, "equal write", {
    request_id via AsText, created_at, begun_at, ended_at, code, is_under_way, open_until,
});

/// The condition that selects the row of a write.
fn of(write: &EqualWrite) -> Statement {
    let EqualWrite { user, tool, arguments_digest, definition_digest, .. } = write;
    sql!(
        "user_id = {user} AND tool = {tool} AND arguments_digest = {*arguments_digest}
         AND definition_digest = {*definition_digest} AND task_id = {task(write)}"
    )
}

/// No task is an empty text, since a key has no null.
fn task(write: &EqualWrite) -> &str {
    write.task_id.as_ref().map_or("", TaskLabel::as_str)
}

pub(crate) fn find(write: &EqualWrite) -> Statement<Lender> {
    sql!(
        "SELECT w.request_id, w.created_at, c.begun_at, c.ended_at, c.code,
                coalesce(c.state = {State::Started} AND c.kept IS NULL, FALSE) AS is_under_way,
                (SELECT max(o.expires_at) FROM confirmations o WHERE o.state IN ('pending', 'approved')
                 AND o.user_id = w.user_id AND o.outer_request_id = w.request_id) AS open_until
         FROM (SELECT user_id, tool, request_id, created_at FROM equal_writes WHERE {..of(write)}) w
         LEFT JOIN idempotency c ON c.user_id = w.user_id AND c.tool = w.tool AND c.request_id = w.request_id"
    )
}

/// Inserts the row of a claim, or replaces one that no longer lends.
pub(crate) fn put(claim: &Claim<'_>, now: SystemTime) -> Statement {
    let write = claim.write;
    insert! { equal_writes:
        user_id = &write.user, tool = &write.tool, arguments_digest = write.arguments_digest,
        definition_digest = write.definition_digest, task_id = task(write), request_id = AsText(claim.request_id),
        created_at = now, expires_at = now + claim.lends_for,
    }
    .and(
        " ON CONFLICT (user_id, tool, arguments_digest, definition_digest, task_id) DO UPDATE SET
          request_id = excluded.request_id, created_at = excluded.created_at, expires_at = excluded.expires_at",
    )
}

pub(crate) fn delete(write: &EqualWrite, request_id: RequestId) -> Statement {
    sql!("DELETE FROM equal_writes WHERE {..of(write)} AND request_id = {AsText(request_id)}")
}

/// The number of rows that lend the `request_id` of a call.
pub(crate) fn count_of_call(Key { user, tool, request_id }: &Key) -> Statement<u32> {
    sql!(
        "SELECT count(*) FROM equal_writes
         WHERE user_id = {user} AND tool = {tool} AND request_id = {AsText(*request_id)}"
    )
}

pub(crate) fn delete_of_call(Key { user, tool, request_id }: &Key) -> Statement {
    sql!(
        "DELETE FROM equal_writes WHERE user_id = {user} AND tool = {tool} AND request_id = {AsText(*request_id)}"
    )
}

pub(crate) fn delete_expired(now: SystemTime) -> Statement {
    sql!(
        "DELETE FROM equal_writes
         WHERE (user_id, tool, arguments_digest, definition_digest, task_id) IN
         (SELECT user_id, tool, arguments_digest, definition_digest, task_id FROM equal_writes
          WHERE expires_at <= {now} ORDER BY expires_at LIMIT {DELETED_AT_ONCE}{..dialect::SKIP_LOCKED})"
    )
}
