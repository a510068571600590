//! The table `confirmations`. Statements name states literally where an index covers only those states.

mod list;
mod quota;
mod row;

pub(crate) use self::{
    list::{Listed, open_between, others_before, pending_after},
    quota::{count_pending, earliest_expiry, next_release},
};

use std::{collections::BTreeMap, time::SystemTime};

use self::row::Shown;
use super::usage::{self, Counted};
use crate::{
    Error,
    confirmations::{Binding, CallRef, Confirmation, DENIAL_ANSWERS, Decided, life::State},
    idempotency::Key,
    sql,
    sql::{AsText, Connection, Json, Scalar, Statement},
};
use toolwire_contract::ConfirmationId;
use toolwire_tool::context::{CallId, RequestId, UserId};

/// The columns of a confirmation that is read whole, with its arguments however long they are.
const WHOLE: &[(&str, &str)] = &[("is_cut", "FALSE AS is_cut")];

/// A change of a confirmation's state.
#[derive(Debug)]
pub(crate) struct Transition<'a> {
    pub(crate) state: State,
    pub(crate) at: SystemTime,
    pub(crate) expires_at: SystemTime,
    pub(crate) reason: &'a str,
    pub(crate) sequence: u64,
    pub(crate) position: u64,
    /// The decision, if it is the one that makes this change.
    pub(crate) decided: Option<&'a Decided>,
    /// The call that uses the confirmation by this change.
    pub(crate) used_by: Option<CallId>,
}

pub(crate) async fn find(
    connection: &mut Connection,
    id: &ConfirmationId,
) -> Result<Option<Confirmation>, Error> {
    let mut find = select_whole();
    find.push(" WHERE id = ").bind(id);
    find.optional(connection).await
}

/// The newest confirmation of a call. Only the newest can still change, so it is the one that changed last.
pub(crate) async fn newest(connection: &mut Connection, key: &Key) -> Result<Option<Confirmation>, Error> {
    let mut newest = select_whole();
    newest.push(" WHERE user_id = ").bind(&key.user).push(" AND tool = ").bind(&key.tool);
    newest.push(" AND request_id = ").bind(AsText(key.request_id));
    newest.push(" ORDER BY sequence DESC LIMIT 1");
    newest.optional(connection).await
}

/// The identifier of the newest equal call whose confirmation is open, or was denied less than [`DENIAL_ANSWERS`] ago.
pub(crate) async fn adoptable(
    connection: &mut Connection,
    binding: &Binding<'_>,
    now: SystemTime,
) -> Result<Option<RequestId>, Error> {
    let adoptable = sql! {
        "SELECT request_id FROM confirmations WHERE user_id = ", binding.user,
        " AND tool = ", binding.tool,
        " AND arguments_digest = ", binding.arguments_digest,
        " AND definition_digest = ", binding.definition_digest,
        " AND task_id IS NOT DISTINCT FROM ", binding.task_id.cloned(),
        " AND (state IN ('pending', 'approved') AND expires_at > ", now,
        " OR state = 'denied' AND ended_at > ", now - DENIAL_ANSWERS,
        ") ORDER BY created_at DESC, sequence DESC LIMIT 1"
    };
    let found: Option<Scalar<AsText<RequestId>>> = adoptable.optional(connection).await?;
    Ok(found.map(|Scalar(AsText(id))| id))
}

/// The open confirmations of a user's call, and of what it called.
pub(crate) async fn open_of_call(
    connection: &mut Connection,
    user: &UserId,
    call: CallRef,
) -> Result<Vec<Confirmation>, Error> {
    let mut open = select_whole();
    open.push(" WHERE state IN ('pending', 'approved') AND user_id = ").bind(user);
    match call {
        CallRef::Call(id) => open.push(" AND outer_call_id = ").bind(id),
        CallRef::Request(id) => {
            open.push(" AND (outer_request_id = ").bind(AsText(id));
            open.push(" OR request_id = ").bind(AsText(id)).push(")")
        }
    };
    open.all(connection).await
}

/// The open confirmations of tasks, whose names are an array in JSON.
pub(crate) async fn open_of_tasks(
    connection: &mut Connection,
    tasks: &str,
) -> Result<Vec<Confirmation>, Error> {
    let mut open = select_whole();
    open.push(" WHERE state IN ('pending', 'approved') AND task_id IN (SELECT value FROM json_each(");
    open.bind(tasks).push("))");
    open.all(connection).await
}

/// Confirmations that are open past their expiry, the earliest first, each with its user.
pub(crate) async fn overdue(
    connection: &mut Connection,
    now: SystemTime,
    limit: u32,
) -> Result<Vec<(UserId, ConfirmationId)>, Error> {
    sql! {
        "SELECT user_id, id FROM confirmations WHERE state IN ('pending', 'approved') AND expires_at <= ", now,
        " ORDER BY expires_at LIMIT ", limit
    }
    .all(connection)
    .await
}

/// Adds a new confirmation and returns its size in bytes.
pub(crate) async fn insert(connection: &mut Connection, new: &Confirmation) -> Result<usize, Error> {
    let Confirmation { key, asked, .. } = new;
    let columns = [
        ("id", (&new.id).into()),
        ("state", new.state.into()),
        ("user_id", (&key.user).into()),
        ("tool", (&key.tool).into()),
        ("request_id", AsText(key.request_id).into()),
        ("arguments_digest", new.arguments_digest.into()),
        ("definition_digest", asked.definition_digest.into()),
        ("task_id", asked.task_id.clone().into()),
        ("outer_call_id", asked.outermost.call_id.into()),
        ("outer_request_id", AsText(asked.outermost.request_id).into()),
        ("shown", Json(&Shown::of(asked)).into()),
        ("arguments", asked.arguments.as_ref().map(Json).into()),
        ("created_at", new.created_at.into()),
        ("expires_at", new.expires_at.into()),
        ("sequence", new.sequence.into()),
        ("position", new.position.into()),
    ];
    let mut insert = Statement::insert("confirmations", columns);
    insert.push(" RETURNING bytes");
    let Scalar(bytes): Scalar<i64> = insert.one(connection).await?;
    usage::account(connection, Counted::Confirmations, key.user.as_str(), 1, bytes).await?;
    Ok(usize::try_from(bytes).unwrap_or_default())
}

/// Changes the state of a confirmation, which is given as it stood before.
pub(crate) async fn transition(
    connection: &mut Connection,
    before: &Confirmation,
    to: &Transition<'_>,
) -> Result<(), Error> {
    let mut update = sql! {
        "UPDATE confirmations SET state = ", to.state,
        ", sequence = ", to.sequence,
        ", position = ", to.position,
        ", expires_at = ", to.expires_at,
        ", ended_at = ", (!to.state.is_open()).then_some(to.at),
        ", reason = ", to.reason
    };
    if let Some(decided) = to.decided {
        update.push(", decided_at = ").bind(decided.at).push(", decided_by = ").bind(&decided.by);
        update.push(", decided_via = ").bind(&decided.via);
        update.push(", on_behalf_of = ").bind(&decided.on_behalf_of);
    }
    if let Some(call) = to.used_by {
        update.push(", used_at = ").bind(to.at).push(", used_by = ").bind(call);
    }
    update.push(" WHERE id = ").bind(&before.id);
    // As the column `bytes` counts: the reason is in the event too. A confirmation is decided once.
    let grown = 2 * (length(to.reason) - length(&before.reason))
        + to.decided.map_or(0, |decided| length(&decided.on_behalf_of));
    if grown == 0 {
        update.execute(connection).await?;
        return Ok(());
    }
    usage::execute_and_account(connection, update, Counted::Confirmations, before.key.user.as_str(), 0, grown)
        .await
}

/// Deletes the arguments of confirmations that have ended, the earliest first: of one user if one is given, and ended
/// at the latest at an instant if one is given. Returns how many there were.
pub(crate) async fn forget_arguments(
    connection: &mut Connection,
    user: Option<&UserId>,
    ended_by: Option<SystemTime>,
    limit: u32,
) -> Result<usize, Error> {
    let mut ended = sql!("SELECT id, user_id, octet_length(arguments) FROM confirmations");
    ended.push(" WHERE ended_at IS NOT NULL AND arguments IS NOT NULL");
    if let Some(user) = user {
        ended.push(" AND user_id = ").bind(user);
    }
    if let Some(ended_by) = ended_by {
        ended.push(" AND ended_at <= ").bind(ended_by);
    }
    ended.push(" ORDER BY ended_at LIMIT ").bind(limit);
    let ended: Vec<(String, String, i64)> = ended.all(connection).await?;
    if ended.is_empty() {
        return Ok(0);
    }
    let mut forget = sql!("UPDATE confirmations SET arguments = NULL WHERE id IN ");
    forget.bind_list(ended.iter().map(|(id, ..)| id.as_str()));
    forget.execute(connection).await?;
    let mut freed: BTreeMap<&str, i64> = BTreeMap::new();
    for (_, user, bytes) in &ended {
        *freed.entry(user).or_default() += bytes;
    }
    for (user, bytes) in freed {
        usage::account(connection, Counted::Confirmations, user, 0, -bytes).await?;
    }
    Ok(ended.len())
}

/// Deletes confirmations that ended at the latest at an instant.
pub(crate) async fn delete_ended(
    connection: &mut Connection,
    ended_by: SystemTime,
    limit: u32,
) -> Result<(), Error> {
    let deleted = sql! {
        "DELETE FROM confirmations WHERE id IN (SELECT id FROM confirmations WHERE ended_at <= ", ended_by,
        " LIMIT ", limit,
        ") RETURNING user_id, bytes"
    };
    let deleted: Vec<(String, i64)> = deleted.all(connection).await?;
    usage::account_deleted(connection, Counted::Confirmations, deleted).await
}

fn select_whole() -> Statement {
    let mut select = Statement::default();
    select.push_select::<Confirmation>("", WHOLE).push(" FROM confirmations");
    select
}

fn length(text: &str) -> i64 {
    i64::try_from(text.len()).unwrap_or(i64::MAX)
}
