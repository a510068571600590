//! Forgetting the documents of a tree that is forgotten itself, or that never began. Their bytes go with the sweep.

use std::time::SystemTime;

use sqlx::Row;

use super::texts;
use crate::{
    StoreError,
    documents::UNBEGUN_KEPT,
    sqlite::{
        Change, Durability, Failed, Sqlite,
        time::{length, millis},
    },
};
use toolwire_tool::context::TaskId;

const SOME: &str = "SELECT v.document, v.version FROM versions v JOIN documents d ON d.id = v.document \
                    WHERE d.root = ? LIMIT ?";

const FORGET_VERSION: &str = "DELETE FROM versions WHERE document = ? AND version = ?";

const WITHOUT_VERSIONS: &str = "DELETE FROM documents WHERE root = ? \
     AND NOT EXISTS (SELECT 1 FROM versions WHERE document = documents.id) RETURNING id";

const FORGET: &str =
    "DELETE FROM workspaces WHERE root = ? AND NOT EXISTS (SELECT 1 FROM documents WHERE root = ?)";

const HAS_ANY: &str = "SELECT 1 FROM workspaces WHERE root = ?";

const HAS_BEGUN: &str = "SELECT EXISTS (SELECT 1 FROM tasks WHERE id = ?)";

const UNBEGUN: &str = "SELECT w.root FROM workspaces w WHERE NOT EXISTS (SELECT 1 FROM tasks t WHERE t.id = w.root) \
     AND NOT EXISTS (SELECT 1 FROM documents d WHERE d.root = w.root AND d.updated_at > ?) LIMIT 1";

/// So many versions go at once.
const AT_ONCE: u32 = 500;

impl Sqlite {
    pub(super) async fn abandon_documents(&self, root: &TaskId) -> Result<(), Failed> {
        let has_any = sqlx::query(HAS_ANY).bind(root.as_str()).fetch_optional(self.readers().await?).await?;
        if has_any.is_none() {
            return Ok(());
        }
        let mut change = self.change(Durability::Process).await?;
        let has_begun: bool =
            sqlx::query_scalar(HAS_BEGUN).bind(root.as_str()).fetch_one(&mut *change).await?;
        // A repeat may have begun it meanwhile.
        let mut is_over = has_begun;
        while !is_over {
            is_over = forget_tree(&mut change, root, AT_ONCE).await?;
        }
        change.commit().await
    }

    pub(super) async fn sweep_unbegun(&self, now: SystemTime) -> Result<bool, Failed> {
        let before = millis(now).saturating_sub(length(UNBEGUN_KEPT));
        let mut change = self.change(Durability::Process).await?;
        let root = sqlx::query_scalar(UNBEGUN).bind(before).fetch_optional(&mut *change).await?;
        let root: Option<String> = root;
        if let Some(root) = &root {
            let root = root.parse().map_err(|_| unreadable(root))?;
            forget_tree(&mut change, &root, AT_ONCE).await?;
        }
        change.commit().await?;
        Ok(root.is_some())
    }
}

fn unreadable(root: &str) -> Failed {
    Failed::Store(StoreError::Unreadable { what: "workspace", cause: format!("there is no task {root:?}") })
}

/// Forgets at most so many versions of a tree's documents, and the documents that have none left. Whether all are gone.
pub(in crate::sqlite) async fn forget_tree(
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
