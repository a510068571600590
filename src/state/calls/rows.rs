//! The table `idempotency`: calls with a `request_id`. Its rows and bytes are counted. A row may name the audit record
//! of the write that is under way, which is completed with the end of the call.

mod list;
mod owners;
mod quota;

use std::time::SystemTime;

pub(crate) use self::{
    list::{list, list_of_ids, list_of_others, list_selected, pending_part},
    owners::{audit_code, find_write, owners},
    quota::{delete_expired, delete_reads, free_at, next_end},
};
use crate::{
    audit,
    idempotency::{Beginning, Effect, Key},
    outcome::OutcomeColumns,
    usage::{self, Counted},
};
use toolwire_base::digest::Digest;
use toolwire_contract::ConfirmationId;
use toolwire_db::{
    Error,
    sql::{AsText, Connection, Statement, Value, record, row, select, sql, words},
};

/// The state of a call without an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum State {
    /// It waits for a person.
    Asked,
    Started,
}

words!(State);

/// The record of a call.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) digest: Digest,
    pub(crate) begun_at: SystemTime,
    pub(crate) expires_at: SystemTime,
    /// `None` if it has no outcome, as the following two.
    pub(crate) fetched_at: Option<SystemTime>,
    pub(crate) kept: Option<String>,
    pub(crate) data: Option<Vec<u8>>,
    pub(crate) state: State,
    pub(crate) confirmation_id: Option<String>,
    /// `None`, as is `replica`, in a record of an early version.
    pub(crate) call_id: Option<String>,
    pub(crate) replica: Option<String>,
}

record!(Record, "call", {
    digest, begun_at, expires_at, fetched_at, kept, data, state, confirmation_id, call_id, replica,
});

/// The columns that each beginning of a call sets, with their values.
fn beginning_columns(call: &Beginning<'_>, replica: &str, now: SystemTime) -> [(&'static str, Value); 12] {
    let about = call.about;
    row! {
        begun_at = now, expires_at = now + call.effect.retention(), call_id = about.call_id,
        parent_call_id = about.parent_call_id, definition_digest = about.definition_digest, face = about.origin.face,
        task_id = about.task_id.as_ref(), session_id = about.session_id.as_ref(),
        trace_id = about.trace_id.map(AsText), deadline = about.deadline, replica = replica,
        client = about.client.as_ref().map(ToString::to_string).unwrap_or_default(),
    }
}

/// The condition that selects the row of a key.
fn of(key: &Key) -> Statement {
    let Key { user, tool, request_id } = key;
    sql!(" WHERE user_id = {user} AND tool = {tool} AND request_id = {AsText(*request_id)}")
}

pub(crate) fn find(key: &Key) -> Statement<Record> {
    select!(Record, "FROM idempotency{..of(key)}")
}

/// Inserts a call in a state, with the confirmation that it needs or used and the audit record of its write.
pub(crate) async fn insert(
    db: &mut Connection,
    call: &Beginning<'_>,
    (state, confirmation, audit): (State, Option<&ConfirmationId>, Option<i64>),
    replica: &str,
    now: SystemTime,
) -> Result<(), Error> {
    let (key, bytes) = (call.key, bytes_of(call.key, None));
    let columns = row! {
        user_id = &key.user, tool = &key.tool, request_id = AsText(key.request_id), digest = call.digest,
        reads = call.effect == Effect::Read, bytes = bytes, state = state, confirmation_id = confirmation,
        audit = audit,
    };
    let insert =
        Statement::insert("idempotency", columns.into_iter().chain(beginning_columns(call, replica, now)));
    usage::execute_and_account(db, insert, Counted::CALLS, key.user.as_str(), 1, bytes).await
}

/// Lets a call without an outcome wait for a confirmation.
pub(crate) fn ask(key: &Key, id: &ConfirmationId) -> Statement {
    sql!("UPDATE idempotency SET state = {State::Asked}, confirmation_id = {id}{..of(key)} AND kept IS NULL")
}

/// Starts a call that waits for a person, if it still does.
pub(crate) fn start(call: &Beginning<'_>, replica: &str, now: SystemTime) -> Statement {
    let columns = Statement::set(beginning_columns(call, replica, now));
    sql!(
        "UPDATE idempotency SET state = {State::Started}, ended_at = NULL, code = NULL, {..columns}{..of(call.key)}
         AND state = {State::Asked} AND kept IS NULL"
    )
}

/// Sets the audit record that the end of a call completes.
pub(crate) fn set_audit(key: &Key, audit: Option<i64>) -> Statement {
    sql!("UPDATE idempotency SET audit = {audit}{..of(key)}")
}

/// Lets a started call wait for a person, and completes its audit record.
pub(crate) fn suspend(key: &Key, code: &str, now: SystemTime) -> Statement {
    sql!(
        "{..complete_audit(key, code, now)};
         UPDATE idempotency SET state = {State::Asked}, ended_at = {now}, code = {code}{..of(key)} AND kept IS NULL"
    )
}

/// Sets the outcome of a call, if there is such a call, and completes its audit record.
pub(crate) async fn end(
    db: &mut Connection,
    key: &Key,
    (outcome, code): (&OutcomeColumns, &str),
    fetched_at: SystemTime,
    now: SystemTime,
) -> Result<(), Error> {
    let before: Statement<i64> = sql!("SELECT bytes FROM idempotency{..of(key)}");
    let Some(before) = before.optional(db).await? else { return Ok(()) };
    let bytes = bytes_of(key, Some(outcome));
    let end = sql!(
        "UPDATE idempotency SET fetched_at = {fetched_at}, kept = {&outcome.description}, data = {&outcome.data},
         bytes = {bytes}, ended_at = {now}, code = {code}{..of(key)}; {..complete_audit(key, code, now)}"
    );
    usage::execute_and_account(db, end, Counted::CALLS, key.user.as_str(), 0, bytes - before).await
}

/// Sets the outcome of a call that waits for a confirmation, which was not given. It is kept as long as that of a call
/// that begins now, or longer.
pub(crate) async fn turn_down(
    db: &mut Connection,
    key: &Key,
    id: &ConfirmationId,
    (outcome, code): (&OutcomeColumns, &str),
    now: SystemTime,
) -> Result<(), Error> {
    let bytes = i64::try_from(outcome.len()).unwrap_or(i64::MAX);
    let (read, write) = (now + Effect::Read.retention(), now + Effect::Write.retention());
    let end = sql!(
        "UPDATE idempotency SET fetched_at = {now}, ended_at = {now}, code = {code}, kept = {&outcome.description},
         data = {&outcome.data}, bytes = bytes + {bytes},
         expires_at = CASE WHEN reads = 1 AND expires_at < {read} THEN {read}
                           WHEN reads = 0 AND expires_at < {write} THEN {write} ELSE expires_at END{..of(key)}
         AND kept IS NULL AND confirmation_id = {id} AND state = {State::Asked}"
    );
    if end.execute(db).await? > 0 {
        usage::account(db, Counted::CALLS, key.user.as_str(), 0, bytes).await?;
    }
    Ok(())
}

/// The audit record of a call, if it has one that is not complete.
pub(crate) fn incomplete_audit(key: &Key) -> Statement<audit::Record> {
    select!(
        audit::Record,
        "FROM audit WHERE ended_at IS NULL AND sequence = (SELECT audit FROM idempotency{..of(key)})"
    )
}

/// Completes the audit record of a call, if it has one that is not complete.
pub(crate) fn complete_audit(key: &Key, code: &str, now: SystemTime) -> Statement {
    sql!(
        "UPDATE audit SET ended_at = {now}, code = {code}
         WHERE ended_at IS NULL AND sequence = (SELECT audit FROM idempotency{..of(key)})"
    )
}

pub(crate) async fn delete(db: &mut Connection, key: &Key) -> Result<(), Error> {
    let deleted = sql!("DELETE FROM idempotency{..of(key)} RETURNING user_id, bytes").all(db).await?;
    usage::account_deleted(db, Counted::CALLS, deleted).await
}

/// The bytes that a record counts for: the key, the other columns, and the outcome.
fn bytes_of(key: &Key, outcome: Option<&OutcomeColumns>) -> i64 {
    let bytes = key.bytes() + outcome.map_or(0, OutcomeColumns::len);
    i64::try_from(bytes).unwrap_or(i64::MAX)
}
