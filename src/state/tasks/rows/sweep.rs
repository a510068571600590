//! Overdue tasks, and the deletion of trees.

use std::time::SystemTime;

use super::timeline_usage;
use toolwire_db::{
    Error,
    sql::{Connection, Statement, sql},
};
use toolwire_tool::context::{TaskId, UserId};

/// Tasks whose deadline has passed, with their users. Parents come first, since their descendants end with them.
pub(crate) fn overdue(now: SystemTime, limit: u32) -> Statement<(UserId, TaskId)> {
    sql!(
        "SELECT user_id, id FROM tasks WHERE ended_at IS NULL AND deleted = 0 AND deadline <= {now}
         ORDER BY deadline, depth LIMIT {limit}"
    )
}

/// Roots of trees that ended by an instant.
pub(crate) fn trees_ended_before(before: SystemTime, limit: u32) -> Statement<TaskId> {
    sql!(
        "SELECT root FROM tasks
         WHERE parent IS NULL AND ended_at IS NOT NULL AND deleted = 0 AND ended_at <= {before} LIMIT {limit}"
    )
}

/// Hides a tree from everything but the sweep.
pub(crate) fn mark_deleted(root: &TaskId) -> Statement {
    sql!("UPDATE tasks SET deleted = 1 WHERE root = {root}")
}

/// The root of a tree that is deleted and still has rows.
pub(crate) fn deleted_tree() -> Statement<TaskId> {
    sql!("SELECT root FROM tasks WHERE deleted = 1 LIMIT 1")
}

/// Deletes the tasks of a tree and accounts for them.
pub(crate) async fn delete_tree(db: &mut Connection, root: &TaskId) -> Result<(), Error> {
    let delete: Statement<(UserId, u64)> =
        sql!("DELETE FROM tasks WHERE root = {root} RETURNING user_id, bytes");
    let deleted = delete.all(db).await?;
    // All tasks of a tree belong to one user.
    let Some((user, _)) = deleted.first() else { return Ok(()) };
    let bytes = deleted.iter().map(|(_, bytes)| bytes).sum();
    timeline_usage::remove(user, deleted.len(), bytes).run(db).await
}

/// Whether a user's task is deleted and still has rows.
pub(crate) fn is_deleted(user: &UserId, id: &TaskId) -> Statement<bool> {
    sql!("SELECT EXISTS (SELECT 1 FROM tasks WHERE deleted = 1 AND id = {id} AND user_id = {user})")
}
