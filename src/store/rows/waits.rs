//! The table `waits`: what tasks wait for.

use crate::{
    Error, sql,
    sql::{Connection, FromValue, Json, Scalar, Statement, Value},
    tasks::{Waiting, entry::WaitTarget},
};
use toolwire_tool::context::{TaskId, UserId};

/// The waits of a row of `tasks`, which a task is read with.
pub(super) const OF_TASK: &str = "(SELECT json_group_array(json_array(w.seq, w.kind, w.thing)) FROM waits w \
                                   WHERE w.task = tasks.id) AS waits";

impl FromValue for Vec<Waiting> {
    fn from_value(value: Value) -> Option<Self> {
        let Json(rows) = Json::<Vec<(u64, String, String)>>::from_value(value)?;
        let waits = rows
            .into_iter()
            .map(|(sequence, kind, name)| Some(Waiting { sequence, target: target(&kind, name)? }));
        let mut waits: Self = waits.collect::<Option<_>>()?;
        waits.sort_by_key(|wait| wait.sequence);
        Some(waits)
    }
}

pub(crate) async fn insert(connection: &mut Connection, task: &TaskId, wait: &Waiting) -> Result<(), Error> {
    let (kind, name) = words(&wait.target);
    let columns =
        [("task", task.into()), ("seq", wait.sequence.into()), ("kind", kind.into()), ("thing", name.into())];
    Statement::insert("waits", columns).execute(connection).await?;
    Ok(())
}

pub(crate) async fn delete(connection: &mut Connection, task: &TaskId, sequence: u64) -> Result<(), Error> {
    sql!("DELETE FROM waits WHERE task = ", task, " AND seq = ", sequence).execute(connection).await?;
    Ok(())
}

/// Deletes the waits of some tasks.
pub(crate) async fn delete_all(connection: &mut Connection, tasks: &[TaskId]) -> Result<(), Error> {
    let mut delete = sql!("DELETE FROM waits WHERE task IN ");
    delete.bind_list(tasks);
    delete.execute(connection).await?;
    Ok(())
}

pub(crate) async fn delete_of_tree(connection: &mut Connection, root: &TaskId) -> Result<(), Error> {
    sql!("DELETE FROM waits WHERE task IN (SELECT id FROM tasks WHERE root = ", root, ")")
        .execute(connection)
        .await?;
    Ok(())
}

/// The tasks of a user that wait for something.
pub(crate) async fn tasks_waiting_for(
    connection: &mut Connection,
    user: &UserId,
    target: &WaitTarget,
) -> Result<Vec<TaskId>, Error> {
    let (kind, name) = words(target);
    let tasks = sql! {
        "SELECT w.task FROM waits w JOIN tasks t ON t.id = w.task WHERE w.kind = ", kind,
        " AND w.thing = ", name,
        " AND t.user_id = ", user,
        " AND t.deleted = 0"
    };
    Ok(tasks.all(connection).await?.into_iter().map(|Scalar(task)| task).collect())
}

/// The columns `kind` and `thing`.
fn words(target: &WaitTarget) -> (&'static str, String) {
    match target {
        WaitTarget::Child(id) => ("child", id.to_string()),
        WaitTarget::Question(id) => ("question", id.to_string()),
        WaitTarget::Confirmation(id) => ("confirmation", id.to_string()),
        WaitTarget::Source(source) => ("source", source.clone()),
        WaitTarget::Call(id) => ("call", id.to_string()),
    }
}

fn target(kind: &str, name: String) -> Option<WaitTarget> {
    Some(match kind {
        "child" => WaitTarget::Child(name.parse().ok()?),
        "question" => WaitTarget::Question(name.parse().ok()?),
        "confirmation" => WaitTarget::Confirmation(name.parse().ok()?),
        "source" => WaitTarget::Source(name),
        "call" => WaitTarget::Call(name.parse().ok()?),
        _ => return None,
    })
}
