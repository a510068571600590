//! The table `idempotency`: calls with a `request_id`. Its rows and bytes are counted. A row may name the audit record
//! of the write that is under way, which is completed with the end of the call.

mod list;
mod owners;
mod quota;

use std::time::SystemTime;

pub(crate) use self::{
    list::{Listed, list, list_named, pending_part},
    owners::{code_of_audited, owners},
    quota::{delete_expired, delete_reads, free_at, next_end},
};
use super::{
    outcome::OutcomeColumns,
    usage::{self, Counted},
};
use crate::{
    Error,
    idempotency::{About, Beginning, Effect, Key},
    sql,
    sql::{AsText, Connection, Scalar, Statement, Value, record, words},
};
use toolwire_base::digest::Digest;
use toolwire_contract::ConfirmationId;

/// What a call without an outcome does.
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
    /// `None` of what an early program recorded, as `replica`.
    pub(crate) call_id: Option<String>,
    pub(crate) replica: Option<String>,
}

record!(Record, "call", {
    digest, begun_at, expires_at, fetched_at, kept, data, state, confirmation_id, call_id, replica,
});

/// The names of the columns that tell about a call, with their values.
type AboutColumns = [(&'static str, Value); 9];

fn about_columns(about: &About, replica: &str) -> AboutColumns {
    [
        ("call_id", about.call_id.into()),
        ("parent_call_id", about.parent_call_id.into()),
        ("definition_digest", about.definition_digest.into()),
        ("face", about.origin.face.into()),
        ("task_id", about.task_id.as_ref().into()),
        ("session_id", about.session_id.as_ref().into()),
        ("trace_id", about.trace_id.map(|id| id.to_string()).into()),
        ("deadline", about.deadline.into()),
        ("replica", replica.into()),
    ]
}

fn push_key(statement: &mut Statement, key: &Key) {
    statement.push(" WHERE user_id = ").bind(&key.user);
    statement.push(" AND tool = ").bind(&key.tool).push(" AND request_id = ").bind(AsText(key.request_id));
}

pub(crate) async fn find(connection: &mut Connection, key: &Key) -> Result<Option<Record>, Error> {
    let mut find = Statement::select::<Record>("FROM idempotency");
    push_key(&mut find, key);
    find.optional(connection).await
}

/// Inserts a call in a state, with the confirmation that it needs or used and the audit record of its write.
pub(crate) async fn insert(
    connection: &mut Connection,
    call: &Beginning<'_>,
    (state, confirmation, audit): (State, Option<&ConfirmationId>, Option<i64>),
    replica: &str,
    now: SystemTime,
) -> Result<(), Error> {
    let [id, parent, definition, face, task, session, trace, deadline, replica] =
        about_columns(call.about, replica);
    let bytes = bytes_of(call.key, None);
    let columns = [
        ("user_id", (&call.key.user).into()),
        ("tool", (&call.key.tool).into()),
        ("request_id", AsText(call.key.request_id).into()),
        ("digest", call.digest.into()),
        ("begun_at", now.into()),
        ("expires_at", (now + call.effect.retention()).into()),
        ("reads", (call.effect == Effect::Read).into()),
        ("bytes", bytes.into()),
        ("state", state.into()),
        ("confirmation_id", confirmation.into()),
        ("audit", audit.into()),
        id,
        parent,
        definition,
        face,
        task,
        session,
        trace,
        deadline,
        replica,
    ];
    let insert = Statement::insert("idempotency", columns);
    let user = call.key.user.as_str();
    usage::execute_and_account(connection, insert, Counted::Calls, user, 1, bytes).await
}

/// Lets a call without an outcome wait for a confirmation.
pub(crate) async fn ask(connection: &mut Connection, key: &Key, id: &ConfirmationId) -> Result<(), Error> {
    let mut ask = sql!("UPDATE idempotency SET state = ", State::Asked, ", confirmation_id = ", id);
    push_key(&mut ask, key);
    ask.push(" AND kept IS NULL");
    ask.execute(connection).await?;
    Ok(())
}

/// Starts a call that waits for a person, and returns whether it did.
pub(crate) async fn start(
    connection: &mut Connection,
    call: &Beginning<'_>,
    replica: &str,
    now: SystemTime,
) -> Result<bool, Error> {
    let mut start = sql! {
        "UPDATE idempotency SET state = ", State::Started,
        ", ended_at = NULL, code = NULL, begun_at = ", now,
        ", expires_at = ", now + call.effect.retention()
    };
    for (column, value) in about_columns(call.about, replica) {
        start.push(", ").push(column).push(" = ").bind(value);
    }
    push_key(&mut start, call.key);
    start.push(" AND state = ").bind(State::Asked).push(" AND kept IS NULL");
    Ok(start.execute(connection).await? > 0)
}

/// Sets the audit record that the end of a call completes.
pub(crate) async fn set_audit(
    connection: &mut Connection,
    key: &Key,
    audit: Option<i64>,
) -> Result<(), Error> {
    let mut set = sql!("UPDATE idempotency SET audit = ", audit);
    push_key(&mut set, key);
    set.execute(connection).await?;
    Ok(())
}

/// Lets a started call wait for a person, and completes its audit record.
pub(crate) async fn suspend(
    connection: &mut Connection,
    key: &Key,
    code: &str,
    now: SystemTime,
) -> Result<(), Error> {
    let mut suspend = Statement::default();
    push_audit_end(&mut suspend, key, code, now);
    suspend.then("UPDATE idempotency SET state = ").bind(State::Asked);
    suspend.push(", ended_at = ").bind(now).push(", code = ").bind(code);
    push_key(&mut suspend, key);
    suspend.push(" AND kept IS NULL");
    suspend.execute(connection).await?;
    Ok(())
}

/// Sets the outcome of a call, if there is such a call, and completes its audit record.
pub(crate) async fn end(
    connection: &mut Connection,
    key: &Key,
    (outcome, code): (&OutcomeColumns, &str),
    fetched_at: SystemTime,
    now: SystemTime,
) -> Result<(), Error> {
    let mut before = sql!("SELECT bytes FROM idempotency");
    push_key(&mut before, key);
    let Some(Scalar(before)) = before.optional::<Scalar<i64>>(connection).await? else { return Ok(()) };
    let bytes = bytes_of(key, Some(outcome));
    let mut end = sql! {
        "UPDATE idempotency SET fetched_at = ", fetched_at,
        ", kept = ", &outcome.description,
        ", data = ", &outcome.data,
        ", bytes = ", bytes,
        ", ended_at = ", now,
        ", code = ", code
    };
    push_key(&mut end, key);
    push_audit_end(&mut end, key, code, now);
    usage::execute_and_account(connection, end, Counted::Calls, key.user.as_str(), 0, bytes - before).await
}

/// Sets the outcome of a call that waits for a confirmation, which was not given. It is kept as long as that of a call
/// that begins now, or longer.
pub(crate) async fn turn_down(
    connection: &mut Connection,
    key: &Key,
    id: &ConfirmationId,
    (outcome, code): (&OutcomeColumns, &str),
    now: SystemTime,
) -> Result<(), Error> {
    let bytes = i64::try_from(outcome.len()).unwrap_or(i64::MAX);
    let mut end = sql! {
        "UPDATE idempotency SET fetched_at = ", now,
        ", ended_at = ", now,
        ", code = ", code,
        ", kept = ", &outcome.description,
        ", data = ", &outcome.data,
        ", bytes = bytes + ", bytes,
        ", expires_at = CASE WHEN reads = 1 AND expires_at < ", now + Effect::Read.retention(),
        " THEN ", now + Effect::Read.retention(),
        " WHEN reads = 0 AND expires_at < ", now + Effect::Write.retention(),
        " THEN ", now + Effect::Write.retention(),
        " ELSE expires_at END"
    };
    push_key(&mut end, key);
    end.push(" AND kept IS NULL AND confirmation_id = ").bind(id).push(" AND state = ").bind(State::Asked);
    if end.execute(connection).await? > 0 {
        usage::account(connection, Counted::Calls, key.user.as_str(), 0, bytes).await?;
    }
    Ok(())
}

/// Completes the audit record of a call, if it has one that is not complete.
pub(crate) async fn complete_audit(
    connection: &mut Connection,
    key: &Key,
    code: &str,
    now: SystemTime,
) -> Result<(), Error> {
    let mut complete = Statement::default();
    push_audit_end(&mut complete, key, code, now);
    complete.execute(connection).await?;
    Ok(())
}

fn push_audit_end(statement: &mut Statement, key: &Key, code: &str, now: SystemTime) {
    statement.then("UPDATE audit SET ended_at = ").bind(now).push(", code = ").bind(code);
    statement.push(" WHERE ended_at IS NULL AND sequence = (SELECT audit FROM idempotency");
    push_key(statement, key);
    statement.push(")");
}

pub(crate) async fn delete(connection: &mut Connection, key: &Key) -> Result<(), Error> {
    let mut delete = sql!("DELETE FROM idempotency");
    push_key(&mut delete, key);
    delete.push(" RETURNING user_id, bytes");
    let deleted = delete.all(connection).await?;
    usage::account_deleted(connection, Counted::Calls, deleted).await
}

/// What a record takes: its key with the other columns, and its outcome.
fn bytes_of(key: &Key, outcome: Option<&OutcomeColumns>) -> i64 {
    let bytes = key.bytes() + outcome.map_or(0, OutcomeColumns::len);
    i64::try_from(bytes).unwrap_or(i64::MAX)
}
