//! The table `tasks`. A task is read together with its rows in `waits`.

pub(crate) mod list;
pub(crate) mod sweep;

use std::time::SystemTime;

use super::waits;
use crate::{
    Error, select, sql,
    sql::{Connection, FromRow, Json, Row, Scalar, Statement, as_json, record, words},
    tasks::{
        Cursor, Kind, Lease, Task, Tree,
        entry::Cause,
        life::{Reason, State},
    },
};
use toolwire_tool::context::{TaskId, UserId};

words!(Kind, Reason);
as_json!(Cause);

record!(Task, "task", {
    id, root, parent, user: "user_id", kind, role, request, documents via Json, state: .., waits, waiting_step, result,
    result_documents via Json, message, cause, depth, next_sequence: "next", newest_step: "step", lease: ..,
    created_at, updated_at, ended_at, deadline, labels via Json, position, tainted, master: ..,
});

record!(Tree, "task", { root, user: "user_id", tainted, state: .. });

/// A task as it is stored.
#[derive(Debug)]
pub(crate) struct StoredTask {
    /// Its place in the order in which tasks were made.
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

impl FromRow for Option<Lease> {
    fn columns() -> Vec<&'static str> {
        vec!["lease_holder", "lease_token", "lease_until"]
    }

    fn from_row(row: &Row) -> Result<Self, Error> {
        let token = row.get("lease_token")?;
        let lease = Lease { holder: row.get("lease_holder")?, token, expires_at: row.get("lease_until")? };
        Ok((token > 0).then_some(lease))
    }
}

/// The master of a question, and the number of its entries.
impl FromRow for Option<(TaskId, u64)> {
    fn columns() -> Vec<&'static str> {
        vec!["master", "master_next"]
    }

    fn from_row(row: &Row) -> Result<Self, Error> {
        let (master, entries): (Option<TaskId>, u64) = (row.get("master")?, row.get("master_next")?);
        Ok(master.map(|master| (master, entries)))
    }
}

fn select_stored(rest: &'static str) -> Statement {
    Statement::select_with::<StoredTask>("waits", waits::OF_TASK, rest)
}

/// A task of any user.
pub(crate) async fn find(connection: &mut Connection, id: &TaskId) -> Result<Option<StoredTask>, Error> {
    let mut find = select_stored("FROM tasks WHERE deleted = 0 AND id = ");
    find.bind(id);
    find.optional(connection).await
}

pub(crate) async fn find_of_user(
    connection: &mut Connection,
    user: &UserId,
    id: &TaskId,
) -> Result<Option<Task>, Error> {
    Ok(find(connection, id).await?.map(|it| it.task).filter(|task| task.user == *user))
}

pub(crate) async fn tree(
    connection: &mut Connection,
    user: &UserId,
    id: &TaskId,
) -> Result<Option<Tree>, Error> {
    select!(Tree, "FROM tasks WHERE deleted = 0 AND id = ", id, " AND user_id = ", user)
        .optional(connection)
        .await
}

/// The number of entries of a user's task.
pub(crate) async fn next_sequence(
    connection: &mut Connection,
    user: &UserId,
    id: &TaskId,
) -> Result<Option<u64>, Error> {
    let next = sql!("SELECT next FROM tasks WHERE deleted = 0 AND id = ", id, " AND user_id = ", user);
    Ok(next.optional(connection).await?.map(|Scalar(next)| next))
}

pub(crate) async fn insert(connection: &mut Connection, task: &Task, bytes: u64) -> Result<(), Error> {
    let lease = LeaseColumns::of(task.lease.as_ref());
    let master = task.master.as_ref();
    let columns = [
        ("id", (&task.id).into()),
        ("root", (&task.root).into()),
        ("parent", task.parent.as_ref().into()),
        ("user_id", (&task.user).into()),
        ("kind", task.kind.into()),
        ("role", (&task.role).into()),
        ("request", (&task.request).into()),
        ("documents", Json(&task.documents).into()),
        ("state", task.state.into_str().into()),
        ("reason", task.state.reason().into()),
        ("waiting_step", task.waiting_step.into()),
        ("result", task.result.as_ref().into()),
        ("result_documents", Json(&task.result_documents).into()),
        ("message", (&task.message).into()),
        ("cause", task.cause.as_ref().into()),
        ("depth", task.depth.into()),
        ("next", task.next_sequence.into()),
        ("bytes", bytes.into()),
        ("tainted", task.tainted.into()),
        ("lease_holder", lease.holder.into()),
        ("lease_token", lease.token.into()),
        ("lease_until", lease.until.into()),
        ("created_at", task.created_at.into()),
        ("updated_at", task.updated_at.into()),
        ("ended_at", task.ended_at.into()),
        ("deadline", task.deadline.into()),
        ("labels", Json(&task.labels).into()),
        ("master", master.map(|(id, _)| id).into()),
        ("master_next", master.map_or(0, |(_, next)| *next).into()),
        ("position", task.position.into()),
        ("step", task.newest_step.into()),
    ];
    Statement::insert("tasks", columns).execute(connection).await?;
    Ok(())
}

/// Writes what changes of a task while it goes on.
pub(crate) async fn update(connection: &mut Connection, task: &Task, bytes: u64) -> Result<(), Error> {
    let lease = LeaseColumns::of(task.lease.as_ref());
    let update = sql! {
        "UPDATE tasks SET state = ", task.state.into_str(),
        ", reason = ", task.state.reason(),
        ", waiting_step = ", task.waiting_step,
        ", result = ", task.result.as_ref(),
        ", result_documents = ", Json(&task.result_documents),
        ", message = ", &task.message,
        ", cause = ", task.cause.as_ref(),
        ", next = ", task.next_sequence,
        ", bytes = ", bytes,
        ", tainted = ", task.tainted,
        ", lease_holder = ", lease.holder,
        ", lease_token = ", lease.token,
        ", lease_until = ", lease.until,
        ", updated_at = ", task.updated_at,
        ", ended_at = ", task.ended_at,
        ", position = ", task.position,
        ", step = ", task.newest_step,
        " WHERE id = ", &task.id
    };
    update.execute(connection).await?;
    Ok(())
}

/// Writes a renewed lease. The task has not changed otherwise, and keeps its position.
pub(crate) async fn update_lease(
    connection: &mut Connection,
    id: &TaskId,
    lease: &Lease,
) -> Result<(), Error> {
    let lease = LeaseColumns::of(Some(lease));
    let update = sql! {
        "UPDATE tasks SET lease_holder = ", lease.holder,
        ", lease_token = ", lease.token,
        ", lease_until = ", lease.until,
        " WHERE id = ", id
    };
    update.execute(connection).await?;
    Ok(())
}

struct LeaseColumns<'a> {
    holder: &'a str,
    token: u64,
    until: SystemTime,
}

impl<'a> LeaseColumns<'a> {
    fn of(lease: Option<&'a Lease>) -> Self {
        match lease {
            Some(lease) => Self { holder: &lease.holder, token: lease.token, until: lease.expires_at },
            None => Self { holder: "", token: 0, until: SystemTime::UNIX_EPOCH },
        }
    }
}

/// Cancels tasks whose last entry, of `entry_bytes` each, is inserted. They take the positions up to `last` in the
/// order in which they were made.
pub(crate) async fn cancel_all(
    connection: &mut Connection,
    tasks: &[TaskId],
    message: &str,
    entry_bytes: usize,
    last: u64,
    now: SystemTime,
) -> Result<(), Error> {
    let before = last - tasks.len() as u64;
    let mut cancel = sql! {
        "UPDATE tasks SET state = ", State::Cancelled.into_str(),
        ", reason = NULL, waiting_step = 0, message = ", message,
        ", cause = ", &Cause::Cancelled,
        ", next = next + 1, bytes = bytes + ", entry_bytes,
        ", updated_at = ", now,
        ", ended_at = ", now,
        ", position = ranked.rank + ", before,
        " FROM (SELECT id AS ranked_id, row_number() OVER (ORDER BY number) AS rank FROM tasks WHERE id IN "
    };
    cancel.bind_list(tasks).push(") AS ranked WHERE id = ranked.ranked_id");
    cancel.execute(connection).await?;
    Ok(())
}

/// The open tasks below a task. Ended tasks have nothing open below them.
pub(crate) async fn open_below(connection: &mut Connection, id: &TaskId) -> Result<Vec<TaskId>, Error> {
    let below = sql! {
        "WITH RECURSIVE below (id) AS (SELECT id FROM tasks WHERE ended_at IS NULL AND parent = ", id,
        " UNION ALL SELECT t.id FROM tasks t JOIN below b ON t.parent = b.id WHERE t.ended_at IS NULL)
          SELECT id FROM below"
    };
    ids(below, connection).await
}

/// The number of open trees of a user.
pub(crate) async fn count_open_trees(connection: &mut Connection, user: &UserId) -> Result<u32, Error> {
    let open = sql! {
        "SELECT count(*) FROM tasks WHERE parent IS NULL AND ended_at IS NULL AND user_id = ", user
    };
    let Scalar(open) = open.one(connection).await?;
    Ok(open)
}

/// The number of tasks in a tree.
pub(crate) async fn count_in_tree(connection: &mut Connection, root: &TaskId) -> Result<u32, Error> {
    let Scalar(tasks) = sql!("SELECT count(*) FROM tasks WHERE root = ", root).one(connection).await?;
    Ok(tasks)
}

/// The bytes of the timelines of a tree.
pub(crate) async fn bytes_of_tree(connection: &mut Connection, root: &TaskId) -> Result<u64, Error> {
    let bytes = sql!("SELECT coalesce(sum(bytes), 0) FROM tasks WHERE root = ", root);
    let Scalar(bytes) = bytes.one(connection).await?;
    Ok(bytes)
}

/// The task of any of some roles that has waited longest for a worker.
pub(crate) async fn find_for_worker(
    connection: &mut Connection,
    user: &UserId,
    roles: &[String],
    now: SystemTime,
) -> Result<Option<TaskId>, Error> {
    let mut find = sql!("SELECT id FROM tasks WHERE user_id = ", user);
    find.push(" AND role IN ").bind_list(roles);
    find.push(" AND state IN ('pending', 'running') AND lease_until <= ").bind(now);
    find.push(" AND deadline > ").bind(now).push(" AND deleted = 0 ORDER BY position LIMIT 1");
    Ok(find.optional(connection).await?.map(|Scalar(id)| id))
}

async fn ids(statement: Statement, connection: &mut Connection) -> Result<Vec<TaskId>, Error> {
    Ok(statement.all(connection).await?.into_iter().map(|Scalar(id)| id).collect())
}
