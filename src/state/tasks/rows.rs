//! The table `tasks`. A task is read together with its rows in `waits`.

pub(crate) mod entries;
pub(crate) mod list;
pub(crate) mod memories;
pub(crate) mod mutations;
pub(crate) mod open_calls;
pub(crate) mod sweep;
pub(crate) mod timeline_usage;
pub(crate) mod waits;

use std::time::SystemTime;

use self::waits::Waits;
use crate::{
    dialect,
    tasks::{
        Cursor, Kind, Lease, Task, Tree,
        entry::Cause,
        life::{Reason, State},
    },
};
use toolwire_db::{
    Error,
    sql::{
        FromRow, Json, Row, Statement, Value, as_json, columns_as, record, row, select, sql, values, words,
    },
};
use toolwire_tool::context::{TaskId, UserId};

words!(Kind, Reason);
as_json!(Cause);

record!(Task, "task", {
    id, root, parent, user: "user_id", kind, role, request, documents via Json, state: .., waits via Waits, waiting_step, result,
    result_documents via Json, message, cause, depth, next_sequence: "next", newest_step: "step", lease: [LEASE, read_lease],
    created_at, updated_at, ended_at, deadline, labels via Json, position, tainted, master: [MASTER, read_master],
});

record!(Tree, "task", { root, user: "user_id", tainted, state: .. });

#[derive(Debug)]
pub(crate) struct StoredTask {
    /// Its position in the order of creation.
    pub(crate) number: Cursor,
    /// The bytes of its timeline.
    pub(crate) bytes: u64,
    pub(crate) task: Task,
}

record!(StoredTask, "task", { number, bytes, task: .. });

impl FromRow for State {
    fn columns() -> Vec<&'static str> {
        vec!["state", "reason"]
    }

    fn from_row(row: &Row) -> Result<Self, Error> {
        let (word, reason): (String, Option<Reason>) = (row.get("state")?, row.get("reason")?);
        Self::of_words(&word, reason.map(|reason| reason.into_str()))
            .ok_or_else(|| Error::unreadable("task", "there is no such state"))
    }
}

const LEASE: [&str; 3] = ["lease_holder", "lease_token", "lease_until"];

fn read_lease(row: &Row) -> Result<Option<Lease>, Error> {
    let token = row.get("lease_token")?;
    let lease = Lease { holder: row.get("lease_holder")?, token, expires_at: row.get("lease_until")? };
    Ok((token > 0).then_some(lease))
}

const MASTER: [&str; 2] = ["master", "master_next"];

/// The master of a question, and the number of its entries.
fn read_master(row: &Row) -> Result<Option<(TaskId, u64)>, Error> {
    let (master, entries): (Option<TaskId>, u64) = (row.get("master")?, row.get("master_next")?);
    Ok(master.map(|master| (master, entries)))
}

fn columns() -> Statement {
    columns_as::<StoredTask>("", &[("waits", dialect::WAITS)])
}

/// A task of any user.
pub(crate) fn find(id: &TaskId) -> Statement<StoredTask> {
    sql!("SELECT {..columns()} FROM tasks WHERE deleted = 0 AND id = {id}")
}

pub(crate) fn find_of_user(user: &UserId, id: &TaskId) -> Statement<StoredTask> {
    find(id).and(sql!(" AND user_id = {user}"))
}

pub(crate) fn tree(user: &UserId, id: &TaskId) -> Statement<Tree> {
    select!(Tree, "FROM tasks WHERE deleted = 0 AND id = {id} AND user_id = {user}")
}

/// The number of entries of a user's task.
pub(crate) fn next_sequence(user: &UserId, id: &TaskId) -> Statement<u64> {
    sql!("SELECT next FROM tasks WHERE deleted = 0 AND id = {id} AND user_id = {user}")
}

/// The mutable columns of a task, with their values.
fn mutable_columns(task: &Task, bytes: u64) -> [(&'static str, Value); 17] {
    let [holder, token, until] = lease(task.lease.as_ref());
    row! {
        state = task.state.into_str(), reason = task.state.reason(), waiting_step = task.waiting_step,
        result = task.result.as_ref(), result_documents = Json(&task.result_documents), message = &task.message,
        cause = task.cause.as_ref(), next = task.next_sequence, bytes = bytes, tainted = task.tainted,
        lease_holder = holder, lease_token = token, lease_until = until, updated_at = task.updated_at,
        ended_at = task.ended_at, position = task.position, step = task.newest_step,
    }
}

pub(crate) fn insert(task: &Task, bytes: u64) -> Statement {
    let master = task.master.as_ref();
    let immutable = row! {
        id = &task.id, root = &task.root, parent = task.parent.as_ref(), user_id = &task.user, kind = task.kind,
        role = &task.role, request = &task.request, documents = Json(&task.documents), depth = task.depth,
        created_at = task.created_at, deadline = task.deadline, labels = Json(&task.labels),
        master = master.map(|(id, _)| id), master_next = master.map_or(0, |(_, next)| *next),
    };
    Statement::insert("tasks", immutable.into_iter().chain(mutable_columns(task, bytes)))
}

pub(crate) fn update(task: &Task, bytes: u64) -> Statement {
    sql!("UPDATE tasks SET {..Statement::set(mutable_columns(task, bytes))} WHERE id = {&task.id}")
}

/// Updates a renewed lease only. The task keeps its position, so that a renewal does not count as a change.
pub(crate) fn update_lease(id: &TaskId, renewed: &Lease) -> Statement {
    let [holder, token, until] = lease(Some(renewed));
    sql!(
        "UPDATE tasks SET lease_holder = {holder}, lease_token = {token}, lease_until = {until} WHERE id = {id}"
    )
}

/// The holder, the token and the end of a lease.
fn lease(lease: Option<&Lease>) -> [Value; 3] {
    match lease {
        Some(Lease { holder, token, expires_at }) => [holder.into(), token.into(), expires_at.into()],
        None => ["".into(), 0.into(), SystemTime::UNIX_EPOCH.into()],
    }
}

/// Cancels tasks whose last entries, of `entry_bytes` each, are inserted already. They take the positions up to `last`,
/// in the order of their creation.
pub(crate) fn cancel_all(
    tasks: &[TaskId],
    message: &str,
    entry_bytes: usize,
    last: u64,
    now: SystemTime,
) -> Statement {
    let (state, cause, before) = (State::Cancelled.into_str(), &Cause::Cancelled, last - tasks.len() as u64);
    sql!(
        "UPDATE tasks SET state = {state}, reason = NULL, waiting_step = 0, message = {message}, cause = {cause},
         next = next + 1, bytes = bytes + {entry_bytes}, updated_at = {now}, ended_at = {now},
         position = ranked.rank + {before}
         FROM (SELECT id AS ranked_id, row_number() OVER (ORDER BY number) AS rank FROM tasks
               WHERE id IN ({..values(tasks)})) AS ranked
         WHERE id = ranked.ranked_id"
    )
}

/// The open tasks below a task. Ended tasks have nothing open below them.
pub(crate) fn open_below(id: &TaskId) -> Statement<TaskId> {
    sql!(
        "WITH RECURSIVE below (id) AS
          (SELECT id FROM tasks WHERE ended_at IS NULL AND parent = {id}
           UNION ALL SELECT t.id FROM tasks t JOIN below b ON t.parent = b.id WHERE t.ended_at IS NULL)
         SELECT id FROM below"
    )
}

/// The number of open trees of a user.
pub(crate) fn count_open_trees(user: &UserId) -> Statement<u32> {
    sql!("SELECT count(*) FROM tasks WHERE parent IS NULL AND ended_at IS NULL AND user_id = {user}")
}

/// The number of tasks in a tree.
pub(crate) fn count_in_tree(root: &TaskId) -> Statement<u32> {
    sql!("SELECT count(*) FROM tasks WHERE root = {root}")
}

/// The bytes of the timelines of a tree.
pub(crate) fn bytes_of_tree(root: &TaskId) -> Statement<u64> {
    sql!("SELECT CAST(coalesce(sum(bytes), 0) AS BIGINT) FROM tasks WHERE root = {root}")
}

/// The task of any of some roles that has waited longest for a worker.
pub(crate) fn find_for_worker(user: &UserId, roles: &[String], now: SystemTime) -> Statement<TaskId> {
    sql!(
        "SELECT id FROM tasks WHERE user_id = {user} AND role IN ({..values(roles)})
         AND state IN ('pending', 'running') AND lease_until <= {now} AND deadline > {now} AND deleted = 0
         ORDER BY position LIMIT 1"
    )
}
