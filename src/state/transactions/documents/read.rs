//! Reading of documents and their versions.

use crate::{
    Store,
    documents::{
        Criteria, Document, Tree, Version,
        rows::{self as documents, versions, workspaces},
    },
};
use toolwire_db::StoreError;
use toolwire_tool::context::TaskId;

/// Number of paths on either side of a path that count as near.
const NEAR: u32 = 500;

impl Store {
    /// The tree of a task that is not deleted. The `root` of all other functions is the root of such a tree: callers
    /// authorise access with this function.
    pub async fn workspace_tree(&self, task: &TaskId) -> Result<Option<Tree>, StoreError> {
        self.fetch_optional(workspaces::tree_of(task)).await
    }

    /// The document at a path, deleted or not.
    pub async fn document(&self, root: &TaskId, path: &str) -> Result<Option<Document>, StoreError> {
        let found = self.fetch_optional(documents::find(root, path)).await?;
        Ok(found.map(|it| it.document))
    }

    /// Paths of existing documents that are near a path in lexical order.
    pub async fn document_paths_near(&self, root: &TaskId, path: &str) -> Result<Vec<String>, StoreError> {
        self.fetch_all(documents::paths_near(root, path, NEAR)).await
    }

    /// The documents that match, in order of path, after a path.
    pub async fn list_documents(
        &self,
        root: &TaskId,
        criteria: &Criteria,
        after: &str,
        limit: u32,
    ) -> Result<Vec<Document>, StoreError> {
        self.fetch_all(documents::list(root, criteria, after, limit)).await
    }

    /// The matching ones of some documents, each by its identifier, unordered.
    pub async fn documents_among(
        &self,
        root: &TaskId,
        ids: &[i64],
        criteria: &Criteria,
    ) -> Result<Vec<(i64, Document)>, StoreError> {
        let found = self.fetch_all(documents::list_of(root, ids, criteria)).await?;
        Ok(found.into_iter().map(|it| (it.id, it.document)).collect())
    }

    /// Versions of a document below a number, the newest first.
    pub async fn document_versions(
        &self,
        root: &TaskId,
        path: &str,
        below: u32,
        limit: u32,
    ) -> Result<Vec<Version>, StoreError> {
        self.fetch_all(versions::list(root, path, below, limit)).await
    }
}
