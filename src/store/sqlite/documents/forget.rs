//! Forgetting the documents of a tree that is forgotten itself, some at a time. Their bytes go with the sweep.

use sqlx::Row;

use super::texts;
use crate::{
    context::TaskId,
    store::sqlite::{Change, Failed},
};

const SOME: &str = "SELECT v.document, v.version FROM versions v JOIN documents d ON d.id = v.document \
                    WHERE d.root = ? LIMIT ?";

const FORGET_VERSION: &str = "DELETE FROM versions WHERE document = ? AND version = ?";

const WITHOUT_VERSIONS: &str = "DELETE FROM documents WHERE root = ? \
     AND NOT EXISTS (SELECT 1 FROM versions WHERE document = documents.id) RETURNING id";

const FORGET: &str =
    "DELETE FROM workspaces WHERE root = ? AND NOT EXISTS (SELECT 1 FROM documents WHERE root = ?)";

/// Forgets at most so many versions of a tree's documents, and the documents that have none left. Whether all are gone.
pub(in crate::store::sqlite) async fn forget_tree(
    change: &mut Change,
    root: &TaskId,
    limit: u32,
) -> Result<bool, Failed> {
    let some = sqlx::query(SOME).bind(root.as_str()).bind(limit).fetch_all(&mut **change).await?;
    for row in &some {
        let (document, version): (i64, i64) = (row.try_get(0)?, row.try_get(1)?);
        sqlx::query(FORGET_VERSION).bind(document).bind(version).execute(&mut **change).await?;
    }
    let gone = sqlx::query(WITHOUT_VERSIONS).bind(root.as_str()).fetch_all(&mut **change).await?;
    for row in &gone {
        texts::remove(change, row.try_get(0)?).await?;
    }
    let forgotten = sqlx::query(FORGET).bind(root.as_str()).bind(root.as_str());
    forgotten.execute(&mut **change).await?;
    Ok(some.len() < limit as usize)
}
