//! What a tree and a user have, counted as it changes, against what they may have.

use sqlx::{Row, SqliteConnection};

use crate::{
    documents::{MAX_DOCUMENTS, MAX_TREE_BYTES, MAX_USER_BYTES, Quota},
    sqlite::{Change, Failed},
};
use toolwire_tool::context::{TaskId, UserId};

const OPEN: &str = "INSERT INTO workspaces (root, user_id) VALUES (?, ?) ON CONFLICT (root) DO UPDATE SET root = root \
                    RETURNING id, documents, bytes";

const OF_USER: &str = "SELECT coalesce(SUM(bytes), 0) FROM workspaces WHERE user_id = ?";

const ADD: &str = "UPDATE workspaces SET documents = documents + ?, bytes = bytes + ? WHERE id = ?";

const USED: &str = "SELECT coalesce(SUM(bytes) FILTER (WHERE root = ?1), 0), coalesce(SUM(bytes), 0), \
                    coalesce(SUM(documents) FILTER (WHERE root = ?1), 0) FROM workspaces WHERE user_id = ?2";

/// What there is already.
pub(super) struct Used {
    pub(super) tree: u64,
    pub(super) user: u64,
    pub(super) documents: u64,
}

/// What there is of a tree, and of all of a user's.
pub(super) async fn used(
    connection: &mut SqliteConnection,
    root: &TaskId,
    user: &UserId,
) -> Result<Used, Failed> {
    let query = sqlx::query_as(USED).bind(root.as_str()).bind(user.as_str());
    let (tree, of_user, documents): (i64, i64, i64) = query.fetch_one(connection).await?;
    let count = |column| u64::try_from(column).unwrap_or_default();
    Ok(Used { tree: count(tree), user: count(of_user), documents: count(documents) })
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Workspace {
    /// Its short name in the index of words.
    pub(super) id: i64,
    documents: i64,
    bytes: i64,
}

/// The workspace of a tree, made with its first document.
pub(super) async fn open(change: &mut Change, root: &TaskId, user: &UserId) -> Result<Workspace, Failed> {
    let row = sqlx::query(OPEN).bind(root.as_str()).bind(user.as_str()).fetch_one(&mut **change).await?;
    Ok(Workspace {
        id: row.try_get("id")?,
        documents: row.try_get("documents")?,
        bytes: row.try_get("bytes")?,
    })
}

impl Workspace {
    /// What there is no room for, if so many more are written.
    pub(super) async fn full(
        &self,
        change: &mut Change,
        user: &UserId,
        documents: i64,
        bytes: u64,
    ) -> Result<Option<Quota>, Failed> {
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        let beyond = |have: i64, most: u64| u64::try_from(have).unwrap_or(u64::MAX) > most;
        if documents > 0 && beyond(self.documents + documents, MAX_DOCUMENTS) {
            return Ok(Some(Quota::Documents));
        }
        if bytes > 0 && beyond(self.bytes.saturating_add(bytes), MAX_TREE_BYTES) {
            return Ok(Some(Quota::TreeBytes));
        }
        let of_user: i64 = sqlx::query_scalar(OF_USER).bind(user.as_str()).fetch_one(&mut **change).await?;
        let is_full = bytes > 0 && beyond(of_user.saturating_add(bytes), MAX_USER_BYTES);
        Ok(is_full.then_some(Quota::UserBytes))
    }

    /// Counts so many more.
    pub(super) async fn add(&self, change: &mut Change, documents: i64, bytes: u64) -> Result<(), Failed> {
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        sqlx::query(ADD).bind(documents).bind(bytes).bind(self.id).execute(&mut **change).await?;
        Ok(())
    }
}
