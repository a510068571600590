//! The table `workspaces`: the documents and bytes of each tree of tasks, counted as they change.

use std::time::SystemTime;

use crate::{
    Error,
    documents::Tree,
    sql,
    sql::{Connection, Scalar, record},
};
use toolwire_tool::context::{TaskId, UserId};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Workspace {
    /// The number of the tree in `postings`.
    pub(crate) id: i64,
    pub(crate) documents: u64,
    pub(crate) bytes: u64,
}

/// What a tree and its user have.
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
pub(crate) async fn tree_of(connection: &mut Connection, task: &TaskId) -> Result<Option<Tree>, Error> {
    let tree = sql! {
        "SELECT root, user_id, coalesce(tainted, 0) AS tainted FROM tasks WHERE id = ", task,
        " AND deleted = 0"
    };
    tree.optional(connection).await
}

/// Whether the tree has begun: its root is a task.
pub(crate) async fn has_begun(connection: &mut Connection, root: &TaskId) -> Result<bool, Error> {
    let Scalar(has_begun) =
        sql!("SELECT EXISTS (SELECT 1 FROM tasks WHERE id = ", root, ")").one(connection).await?;
    Ok(has_begun)
}

pub(crate) async fn find(connection: &mut Connection, root: &TaskId) -> Result<Option<Workspace>, Error> {
    sql!("SELECT id, documents, bytes FROM workspaces WHERE root = ", root).optional(connection).await
}

/// The workspace of a tree, inserted if there is none.
pub(crate) async fn find_or_insert(
    connection: &mut Connection,
    root: &TaskId,
    user: &UserId,
) -> Result<Workspace, Error> {
    let insert = sql! {
        "INSERT INTO workspaces (root, user_id) VALUES (", root,
        ", ", user,
        // Returns the row that is there, which `DO NOTHING` does not.
        ") ON CONFLICT (root) DO UPDATE SET root = excluded.root RETURNING id, documents, bytes"
    };
    insert.one(connection).await
}

/// What a tree has, and all trees of a user together.
pub(crate) async fn usage(connection: &mut Connection, root: &TaskId, user: &UserId) -> Result<Usage, Error> {
    let usage = sql! {
        "SELECT coalesce(SUM(bytes) FILTER (WHERE root = ", root,
        "), 0) AS tree_bytes, coalesce(SUM(bytes), 0) AS user_bytes,
         coalesce(SUM(documents) FILTER (WHERE root = ", root,
        "), 0) AS tree_documents FROM workspaces WHERE user_id = ", user
    };
    usage.one(connection).await
}

/// The bytes of all trees of a user.
pub(crate) async fn user_bytes(connection: &mut Connection, user: &UserId) -> Result<u64, Error> {
    let bytes = sql!("SELECT coalesce(SUM(bytes), 0) FROM workspaces WHERE user_id = ", user);
    let Scalar(bytes) = bytes.one(connection).await?;
    Ok(bytes)
}

/// Adds to what a tree has.
pub(crate) async fn add(
    connection: &mut Connection,
    id: i64,
    documents: u64,
    bytes: u64,
) -> Result<(), Error> {
    let add = sql! {
        "UPDATE workspaces SET documents = documents + ", documents,
        ", bytes = bytes + ", bytes,
        " WHERE id = ", id
    };
    add.execute(connection).await?;
    Ok(())
}

/// A tree that never began and to which nothing was added since, with its user: any, or the given one.
pub(crate) async fn find_unbegun(
    connection: &mut Connection,
    since: SystemTime,
    root: Option<&TaskId>,
) -> Result<Option<(TaskId, UserId)>, Error> {
    let mut find = sql! {
        "SELECT w.root, w.user_id FROM workspaces w WHERE NOT EXISTS (SELECT 1 FROM tasks t WHERE t.id = w.root)
         AND NOT EXISTS (SELECT 1 FROM documents d WHERE d.root = w.root AND d.updated_at > ", since,
        ")"
    };
    if let Some(root) = root {
        find.push(" AND w.root = ").bind(root);
    }
    find.push(" LIMIT 1");
    find.optional(connection).await
}

/// The user of a workspace.
pub(crate) async fn user_of(connection: &mut Connection, root: &TaskId) -> Result<Option<UserId>, Error> {
    let user = sql!("SELECT user_id FROM workspaces WHERE root = ", root);
    Ok(user.optional(connection).await?.map(|Scalar(user)| user))
}

/// Deletes a workspace that has no documents.
pub(crate) async fn delete_empty(connection: &mut Connection, root: &TaskId) -> Result<(), Error> {
    let delete = sql! {
        "DELETE FROM workspaces WHERE root = ", root,
        " AND NOT EXISTS (SELECT 1 FROM documents WHERE root = ", root,
        ")"
    };
    delete.execute(connection).await?;
    Ok(())
}
