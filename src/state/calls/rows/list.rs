//! Lists of recorded calls.

use std::time::SystemTime;

use super::State;
use crate::{
    calls::{CallState, Criteria, RecordSelector, RecordedCall},
    idempotency::Key,
};
use toolwire_contract::ConfirmationId;
use toolwire_db::{
    Error,
    sql::{AsText, FromRow, FromValue, Row, Statement, Value, columns_as, record, sql},
};
use toolwire_tool::context::CallId;

record!(Key, "call", { user: "user_id", tool, request_id via AsText });

record!(RecordedCall, "call", {
    key: .., call_id, parent_call_id, definition_digest, face via OrDefault, task_id via OrDefault,
    session_id via OrDefault, trace_id via OrDefault, client, begun_at, ended_at, deadline, confirmation: "confirmation_id",
    standing: .., replica, is_left,
});

/// A column that is null in records of an early version.
struct OrDefault<T>(T);

impl<T: FromValue + Default> FromValue for OrDefault<T> {
    fn from_value(value: Value) -> Option<Self> {
        Option::<T>::from_value(value).map(|it| Self(it.unwrap_or_default()))
    }
}

impl FromRow for CallState {
    fn columns() -> Vec<&'static str> {
        vec!["state", "kept IS NOT NULL AS has_ended", "code"]
    }

    fn from_row(row: &Row) -> Result<Self, Error> {
        Ok(match row.get("state")? {
            _ if row.get("has_ended")? => Self::Ended(row.get::<OrDefault<_>>("code")?.0),
            State::Asked => Self::Asked,
            State::Started => Self::Started,
        })
    }
}

/// Selects the calls that have not expired, without those of an early version, which have no `call_id`. Whether their
/// processes are gone is not known yet.
fn select_unexpired(now: SystemTime) -> Statement<RecordedCall> {
    // A call that waits for a person has an `ended_at` too: the end of the attempt, and not of the call.
    let ended_at = ("ended_at", "CASE WHEN kept IS NOT NULL THEN ended_at END AS ended_at");
    let columns = columns_as::<RecordedCall>("", &[ended_at, ("is_left", "FALSE AS is_left")]);
    sql!("SELECT {..columns} FROM idempotency WHERE call_id IS NOT NULL AND expires_at > {now}")
}

/// The selected calls that have not expired, the newest first, at most 16.
pub(crate) fn list_selected(selector: RecordSelector<'_>, now: SystemTime) -> Statement<RecordedCall> {
    let list = select_unexpired(now);
    let list = match selector {
        // The record of a call that waited for a person is that of its newest attempt; the first one asked.
        RecordSelector::Call(call_id) => list.and(sql!(
            " AND (call_id = {call_id} OR (user_id, request_id) IN
              (SELECT user_id, outer_request_id FROM confirmations WHERE outer_call_id = {call_id}))"
        )),
        RecordSelector::Request(user, request_id, tool) => list
            .and(sql!(" AND user_id = {user} AND request_id = {AsText(request_id)}"))
            .when(" AND tool = ", tool),
    };
    list.and(" ORDER BY call_id DESC LIMIT 16")
}

/// The calls before one that have not expired, the newest first.
pub(crate) fn list(
    of: &Criteria,
    before: Option<CallId>,
    limit: u32,
    now: SystemTime,
) -> Statement<RecordedCall> {
    select_unexpired(now)
        .when(" AND user_id = ", of.user.as_ref())
        .when(" AND call_id < ", before)
        .when(" AND begun_at >= ", of.since)
        .when(" AND parent_call_id = ", of.parent_call_id)
        .when_nonempty(" AND task_id = ", &of.task_id)
        .when_nonempty(" AND session_id = ", &of.session_id)
        .when_any(" AND tool IN (", &of.tools)
        .and(sql!(" ORDER BY call_id DESC LIMIT {limit}"))
}

/// The calls after one that other processes than this one have begun and that have not expired, the oldest first.
pub(crate) fn list_of_others(
    own: &str,
    after: CallId,
    limit: u32,
    now: SystemTime,
) -> Statement<RecordedCall> {
    select_unexpired(now).and(sql!(
        " AND call_id > {after} AND replica IS NOT NULL AND replica <> {own} ORDER BY call_id LIMIT {limit}"
    ))
}

/// The calls of these ids that have not expired.
pub(crate) fn list_of_ids(ids: &[CallId], now: SystemTime) -> Statement<RecordedCall> {
    select_unexpired(now).when_any(" AND call_id IN (", ids.iter().copied())
}

/// The pending confirmation of a call nested in a call, the newest if there are several.
pub(crate) fn pending_part(key: &Key) -> Statement<ConfirmationId> {
    // The state is no parameter, so that the index of pending confirmations serves.
    sql!(
        "SELECT id FROM confirmations WHERE state = 'pending' AND user_id = {&key.user}
         AND outer_request_id = {AsText(key.request_id)} ORDER BY position DESC LIMIT 1"
    )
}
