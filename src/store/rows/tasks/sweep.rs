//! Tasks whose time is over: those to fail, and those to delete.

use std::time::SystemTime;

use super::ids;
use crate::{
    Error,
    rows::timeline_usage,
    sql,
    sql::{Connection, Scalar},
};
use toolwire_tool::context::{TaskId, UserId};

/// Tasks whose deadline has passed, with their users. Parents come first, since what is below them ends with them.
pub(crate) async fn overdue(
    connection: &mut Connection,
    now: SystemTime,
    limit: u32,
) -> Result<Vec<(UserId, TaskId)>, Error> {
    let overdue = sql! {
        "SELECT user_id, id FROM tasks WHERE ended_at IS NULL AND deleted = 0 AND deadline <= ", now,
        " ORDER BY deadline, depth LIMIT ", limit
    };
    overdue.all(connection).await
}

/// Roots of trees that ended before an instant.
pub(crate) async fn trees_ended_before(
    connection: &mut Connection,
    before: SystemTime,
    limit: u32,
) -> Result<Vec<TaskId>, Error> {
    let old = sql! {
        "SELECT root FROM tasks WHERE parent IS NULL AND ended_at IS NOT NULL AND deleted = 0 AND ended_at <= ", before,
        " LIMIT ", limit
    };
    ids(old, connection).await
}

/// Hides a tree from everything but the sweep.
pub(crate) async fn mark_deleted(connection: &mut Connection, root: &TaskId) -> Result<(), Error> {
    sql!("UPDATE tasks SET deleted = 1 WHERE root = ", root).execute(connection).await?;
    Ok(())
}

/// The root of a tree that is deleted and still has rows.
pub(crate) async fn deleted_tree(connection: &mut Connection) -> Result<Option<TaskId>, Error> {
    let deleted = sql!("SELECT root FROM tasks WHERE deleted = 1 LIMIT 1");
    Ok(deleted.optional(connection).await?.map(|Scalar(root)| root))
}

/// Deletes the tasks of a tree and accounts for them.
pub(crate) async fn delete_tree(connection: &mut Connection, root: &TaskId) -> Result<(), Error> {
    let delete = sql!("DELETE FROM tasks WHERE root = ", root, " RETURNING user_id, bytes");
    let deleted: Vec<(UserId, u64)> = delete.all(connection).await?;
    // A tree is one user's.
    let Some((user, _)) = deleted.first() else { return Ok(()) };
    let bytes = deleted.iter().map(|(_, bytes)| bytes).sum();
    timeline_usage::remove(connection, user, deleted.len(), bytes).await
}

/// Whether a user's task is deleted and still has rows.
pub(crate) async fn is_deleted(
    connection: &mut Connection,
    user: &UserId,
    id: &TaskId,
) -> Result<bool, Error> {
    let deleted = sql!("SELECT 1 FROM tasks WHERE deleted = 1 AND id = ", id, " AND user_id = ", user);
    Ok(deleted.optional::<Scalar<i64>>(connection).await?.is_some())
}
