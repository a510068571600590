//! The table `workspaces`: counters of the documents and bytes of each tree of tasks.

use std::time::SystemTime;

use crate::documents::Tree;
use toolwire_db::sql::{Statement, insert, record, select, sql};
use toolwire_tool::context::{TaskId, UserId};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Workspace {
    /// The number of the tree in `postings`.
    pub(crate) id: i64,
    pub(crate) documents: u64,
    pub(crate) bytes: u64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Usage {
    pub(crate) tree_bytes: u64,
    pub(crate) user_bytes: u64,
    pub(crate) tree_documents: u64,
}

record!(Workspace, "workspace", { id, documents, bytes });

record!(Usage, "workspace", { tree_bytes, user_bytes, tree_documents });

record!(Tree, "task", { root, user: "user_id", tainted });

/// The tree of a task that is not deleted.
pub(crate) fn tree_of(task: &TaskId) -> Statement<Tree> {
    sql!("SELECT root, user_id, coalesce(tainted, 0) AS tainted FROM tasks WHERE id = {task} AND deleted = 0")
}

/// Whether the tree has begun: its root is a task.
pub(crate) fn has_begun(root: &TaskId) -> Statement<bool> {
    sql!("SELECT EXISTS (SELECT 1 FROM tasks WHERE id = {root})")
}

pub(crate) fn find(root: &TaskId) -> Statement<Workspace> {
    select!(Workspace, "FROM workspaces WHERE root = {root}")
}

/// The workspace of a tree, inserted if there is none.
pub(crate) fn find_or_insert(root: &TaskId, user: &UserId) -> Statement<Workspace> {
    // `DO NOTHING` would return no row if there is one already.
    insert! { workspaces: root, user_id = user }
        .and(" ON CONFLICT (root) DO UPDATE SET root = excluded.root RETURNING id, documents, bytes")
}

/// The usage of a tree, and of all trees of its user.
pub(crate) fn usage(root: &TaskId, user: &UserId) -> Statement<Usage> {
    sql!(
        "SELECT CAST(coalesce(SUM(bytes) FILTER (WHERE root = {root}), 0) AS BIGINT) AS tree_bytes,
                CAST(coalesce(SUM(bytes), 0) AS BIGINT) AS user_bytes,
                CAST(coalesce(SUM(documents) FILTER (WHERE root = {root}), 0) AS BIGINT) AS tree_documents
         FROM workspaces WHERE user_id = {user}"
    )
}

/// The bytes of all trees of a user.
pub(crate) fn user_bytes(user: &UserId) -> Statement<u64> {
    sql!("SELECT CAST(coalesce(SUM(bytes), 0) AS BIGINT) FROM workspaces WHERE user_id = {user}")
}

/// Adds to the counters of a tree.
pub(crate) fn add(id: i64, documents: u64, bytes: u64) -> Statement {
    sql!("UPDATE workspaces SET documents = documents + {documents}, bytes = bytes + {bytes} WHERE id = {id}")
}

/// A tree that never began and whose documents have not changed since, with its user: any, or the given one.
pub(crate) fn find_unbegun(since: SystemTime, root: Option<&TaskId>) -> Statement<(TaskId, UserId)> {
    let find = sql!(
        "SELECT w.root, w.user_id FROM workspaces w WHERE NOT EXISTS (SELECT 1 FROM tasks t WHERE t.id = w.root)
         AND NOT EXISTS (SELECT 1 FROM documents d WHERE d.root = w.root AND d.updated_at > {since})"
    );
    find.when(" AND w.root = ", root).and(" LIMIT 1")
}

/// The user of a workspace.
pub(crate) fn user_of(root: &TaskId) -> Statement<UserId> {
    sql!("SELECT user_id FROM workspaces WHERE root = {root}")
}

/// Deletes a workspace that has no documents.
pub(crate) fn delete_empty(root: &TaskId) -> Statement {
    sql!(
        "DELETE FROM workspaces WHERE root = {root} AND NOT EXISTS (SELECT 1 FROM documents WHERE root = {root})"
    )
}
