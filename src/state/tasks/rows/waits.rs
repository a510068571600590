//! The table `waits`: what tasks wait for.

use crate::tasks::{Waiting, entry::WaitTarget};
use toolwire_db::sql::{FromValue, Json, Statement, Value, insert, sql, values};
use toolwire_tool::context::{TaskId, UserId};

/// A column that holds waits as JSON.
pub(super) struct Waits<T>(pub(super) T);

impl FromValue for Waits<Vec<Waiting>> {
    fn from_value(value: Value) -> Option<Self> {
        let Json(rows) = Json::<Vec<(u64, String, String)>>::from_value(value)?;
        let waits = rows
            .into_iter()
            .map(|(sequence, kind, name)| Some(Waiting { sequence, target: target(&kind, name)? }));
        let mut waits: Vec<_> = waits.collect::<Option<_>>()?;
        waits.sort_by_key(|wait| wait.sequence);
        Some(Self(waits))
    }
}

pub(crate) fn insert(task: &TaskId, wait: &Waiting) -> Statement {
    let (kind, thing) = words(&wait.target);
    insert! { waits: task, seq = wait.sequence, kind, thing }
}

pub(crate) fn delete(task: &TaskId, sequence: u64) -> Statement {
    sql!("DELETE FROM waits WHERE task = {task} AND seq = {sequence}")
}

/// Deletes the waits of some tasks.
pub(crate) fn delete_all(tasks: &[TaskId]) -> Statement {
    sql!("DELETE FROM waits WHERE task IN ({..values(tasks)})")
}

pub(crate) fn delete_of_tree(root: &TaskId) -> Statement {
    sql!("DELETE FROM waits WHERE task IN (SELECT id FROM tasks WHERE root = {root})")
}

/// The tasks of a user that wait for a target.
pub(crate) fn tasks_waiting_for(user: &UserId, target: &WaitTarget) -> Statement<TaskId> {
    let (kind, thing) = words(target);
    sql!(
        "SELECT w.task FROM waits w JOIN tasks t ON t.id = w.task
         WHERE w.kind = {kind} AND w.thing = {thing} AND t.user_id = {user} AND t.deleted = 0"
    )
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
