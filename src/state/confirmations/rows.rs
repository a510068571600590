//! The table `confirmations`. Statements contain states as literals where a partial index covers only those states.

pub(crate) mod definitions;
pub(crate) mod events;
mod list;
mod quota;
mod row;

pub(crate) use self::{
    list::{Listed, open_between, others_before, pending_after},
    quota::{count_pending, earliest_expiry, next_release},
};

use std::{collections::BTreeMap, time::SystemTime};

use self::row::Shown;
use crate::{
    confirmations::{Binding, CallRef, Confirmation, DENIAL_RETENTION, Decided, life::State},
    idempotency::Key,
    usage::{self, Counted},
};
use toolwire_contract::ConfirmationId;
use toolwire_db::{
    Error,
    sql::{AsText, Connection, Json, Statement, columns_as, insert, sql, values},
};
use toolwire_tool::context::{CallId, RequestId, UserId};

/// A change of a confirmation's state.
#[derive(Debug)]
pub(crate) struct Transition<'a> {
    pub(crate) state: State,
    pub(crate) at: SystemTime,
    pub(crate) expires_at: SystemTime,
    pub(crate) reason: &'a str,
    pub(crate) sequence: u64,
    pub(crate) position: u64,
    /// The decision, if it causes this change.
    pub(crate) decided: Option<&'a Decided>,
    /// The call that uses the confirmation by this change.
    pub(crate) used_by: Option<CallId>,
}

pub(crate) fn find(id: &ConfirmationId) -> Statement<Confirmation> {
    select_where(sql!("id = {id}"))
}

/// The newest confirmation of a call. Only the newest can still change, so it is the one that changed last.
pub(crate) fn newest(Key { user, tool, request_id }: &Key) -> Statement<Confirmation> {
    let key = sql!("user_id = {user} AND tool = {tool} AND request_id = {AsText(*request_id)}");
    select_where(key).and(" ORDER BY sequence DESC LIMIT 1")
}

/// The identifier of the newest equal call whose confirmation is open, or was denied less than [`DENIAL_RETENTION`]
/// ago.
pub(crate) fn adoptable(binding: &Binding<'_>, now: SystemTime) -> Statement<AsText<RequestId>> {
    let Binding { user, tool, arguments_digest, definition_digest, .. } = *binding;
    sql!(
        "SELECT request_id FROM confirmations
         WHERE user_id = {user} AND tool = {tool} AND arguments_digest = {arguments_digest}
         AND definition_digest = {definition_digest} AND task_id IS NOT DISTINCT FROM {binding.task_id}
         AND (state IN ('pending', 'approved') AND expires_at > {now}
              OR state = 'denied' AND ended_at > {now - DENIAL_RETENTION})
         ORDER BY created_at DESC, sequence DESC LIMIT 1"
    )
}

/// The open confirmations of a user's call, and of the calls nested in it.
pub(crate) fn open_of_call(user: &UserId, call: CallRef) -> Statement<Confirmation> {
    let of = match call {
        CallRef::Call(id) => sql!("outer_call_id = {id}"),
        CallRef::Request(id) => sql!("(outer_request_id = {AsText(id)} OR request_id = {AsText(id)})"),
        CallRef::Any => sql!("TRUE"),
    };
    select_where(sql!("state IN ('pending', 'approved') AND user_id = {user} AND {..of}"))
}

/// The users who have open confirmations.
pub(crate) fn users_of_open() -> Statement<UserId> {
    sql!("SELECT DISTINCT user_id FROM confirmations WHERE state IN ('pending', 'approved')")
}

/// The open confirmations of tasks, whose identifiers are a JSON array.
pub(crate) fn open_of_tasks(tasks: &str) -> Statement<Confirmation> {
    select_where(sql!(
        "state IN ('pending', 'approved') AND task_id IN (SELECT value FROM json_each({tasks}))"
    ))
}

/// Confirmations that are open past their expiry, the earliest first, each with its user.
pub(crate) fn overdue(now: SystemTime, limit: u32) -> Statement<(UserId, ConfirmationId)> {
    sql!(
        "SELECT user_id, id FROM confirmations WHERE state IN ('pending', 'approved') AND expires_at <= {now}
         ORDER BY expires_at LIMIT {limit}"
    )
}

/// Inserts a confirmation and returns its size in bytes.
pub(crate) async fn insert(db: &mut Connection, new: &Confirmation) -> Result<usize, Error> {
    let Confirmation { key, asked: request, .. } = new;
    let insert: Statement<i64> = insert! { confirmations:
        id = &new.id, state = new.state, user_id = &key.user, tool = &key.tool, request_id = AsText(key.request_id),
        arguments_digest = new.arguments_digest, definition_digest = request.definition_digest,
        task_id = request.task_id.as_ref(), outer_call_id = request.outermost.call_id,
        outer_request_id = AsText(request.outermost.request_id), shown = Json(&Shown::of(request)),
        arguments = request.arguments.as_ref().map(Json), created_at = new.created_at, expires_at = new.expires_at,
        sequence = new.sequence, position = new.position,
    };
    let bytes = insert.and(" RETURNING bytes").one(db).await?;
    usage::account(db, Counted::CONFIRMATIONS, key.user.as_str(), 1, bytes).await?;
    Ok(usize::try_from(bytes).unwrap_or_default())
}

/// Changes the state of a confirmation, given the confirmation before the change.
pub(crate) async fn transition(
    db: &mut Connection,
    before: &Confirmation,
    to: &Transition<'_>,
) -> Result<(), Error> {
    let ended_at = (!to.state.is_open()).then_some(to.at);
    let decided = to.decided.map(|Decided { at, by, via, on_behalf_of }| {
        sql!(", decided_at = {at}, decided_by = {by}, decided_via = {via}, on_behalf_of = {on_behalf_of}")
    });
    let used = to.used_by.map(|call| sql!(", used_at = {to.at}, used_by = {call}"));
    let update = sql!(
        "UPDATE confirmations SET state = {to.state}, sequence = {to.sequence}, position = {to.position},
         expires_at = {to.expires_at}, ended_at = {ended_at}, reason = {to.reason}
         {..decided.unwrap_or_default()}{..used.unwrap_or_default()} WHERE id = {&before.id}"
    );
    // In agreement with the generated column `bytes`, which counts the reason twice, since the event has it too. The
    // decision is added as a whole, since a confirmation is decided once.
    let grown = 2 * (length(to.reason) - length(&before.reason))
        + to.decided.map_or(0, |decided| length(&decided.on_behalf_of));
    if grown == 0 {
        return update.run(db).await;
    }
    usage::execute_and_account(db, update, Counted::CONFIRMATIONS, before.key.user.as_str(), 0, grown).await
}

/// Deletes the arguments of confirmations that have ended, the earliest first: only those of `user` and those that
/// ended by `ended_by`, if given. Returns the number of confirmations.
pub(crate) async fn forget_arguments(
    db: &mut Connection,
    user: Option<&UserId>,
    ended_by: Option<SystemTime>,
    limit: u32,
) -> Result<usize, Error> {
    let ended: Statement<(String, String, i64)> = sql!(
        "SELECT id, user_id, octet_length(arguments) FROM confirmations
         WHERE ended_at IS NOT NULL AND arguments IS NOT NULL"
    );
    let ended = ended.when(" AND user_id = ", user).when(" AND ended_at <= ", ended_by);
    let ended = ended.and(sql!(" ORDER BY ended_at LIMIT {limit}")).all(db).await?;
    if ended.is_empty() {
        return Ok(0);
    }
    let ids = values(ended.iter().map(|(id, ..)| id));
    sql!("UPDATE confirmations SET arguments = NULL WHERE id IN ({..ids})").run(db).await?;
    let mut freed: BTreeMap<&str, i64> = BTreeMap::new();
    for (_, user, bytes) in &ended {
        *freed.entry(user).or_default() += bytes;
    }
    for (user, bytes) in freed {
        usage::account(db, Counted::CONFIRMATIONS, user, 0, -bytes).await?;
    }
    Ok(ended.len())
}

/// Deletes confirmations that ended by an instant.
pub(crate) async fn delete_ended(db: &mut Connection, ended_by: SystemTime, limit: u32) -> Result<(), Error> {
    let delete = sql!(
        "DELETE FROM confirmations WHERE id IN
         (SELECT id FROM confirmations WHERE ended_at <= {ended_by} LIMIT {limit}) RETURNING user_id, bytes"
    );
    let deleted = delete.all(db).await?;
    usage::account_deleted(db, Counted::CONFIRMATIONS, deleted).await
}

/// Selects whole confirmations: with their arguments, however long.
fn select_where(condition: Statement) -> Statement<Confirmation> {
    let columns = columns_as::<Confirmation>("", &[("is_cut", "FALSE AS is_cut")]);
    sql!("SELECT {..columns} FROM confirmations WHERE {..condition}")
}

fn length(text: &str) -> i64 {
    i64::try_from(text.len()).unwrap_or(i64::MAX)
}
