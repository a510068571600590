//! Deletion of the documents of a tree that is deleted or never began. Their blobs are deleted by the sweep.

use std::time::SystemTime;

use crate::{
    Lane, StoreError,
    documents::UNBEGUN_KEPT,
    engine::{Durability, Error, Store, Tx},
    rows::{documents, postings, versions, workspaces},
    scoped,
};
use toolwire_tool::context::TaskId;

/// Maximum number of versions deleted by one transaction, so that other transactions run in between.
const AT_ONCE: u32 = 500;

impl Store {
    /// Deletes the documents of a tree that has not begun. Documents of other trees stay.
    pub async fn abandon_documents(&self, root: &TaskId) -> Result<(), StoreError> {
        let user = self.explain(workspaces::user_of(&mut *self.reader().await?, root).await)?;
        let Some(user) = user else { return Ok(()) };
        self.transact(Lane::User(&user), Durability::Process, |tx| {
            scoped(async move {
                // A repeat may have begun it meanwhile.
                let mut is_over = workspaces::has_begun(tx, root).await?;
                while !is_over {
                    is_over = forget_tree(tx, root, AT_ONCE).await?;
                }
                Ok::<_, Error>(())
            })
        })
        .await
    }

    /// Deletes some of the documents of trees that never began and have not been written to for [`UNBEGUN_KEPT`], and
    /// returns whether there may be more.
    pub async fn sweep_documents(&self, now: SystemTime) -> Result<bool, StoreError> {
        let before = now - UNBEGUN_KEPT;
        let unbegun = workspaces::find_unbegun(&mut *self.reader().await?, before, None).await;
        let Some((root, user)) = self.explain(unbegun)? else { return Ok(false) };
        let root = &root;
        self.transact(Lane::User(&user), Durability::Process, |tx| {
            scoped(async move {
                // It may have begun since it was found.
                if workspaces::find_unbegun(tx, before, Some(root)).await?.is_some() {
                    forget_tree(tx, root, AT_ONCE).await?;
                }
                Ok::<_, Error>(true)
            })
        })
        .await
    }
}

/// Deletes some versions of a tree's documents, and the documents without remaining versions. Returns whether all are
/// deleted.
pub(in crate::engine) async fn forget_tree(tx: &mut Tx, root: &TaskId, limit: u32) -> Result<bool, Error> {
    let deleted = versions::delete(tx, root, limit).await?;
    let gone = documents::delete_without_versions(tx, root).await?;
    // Before the workspace, which knows the number of the tree.
    if let Some(workspace) = workspaces::find(tx, root).await? {
        postings::delete(tx, workspace.id, &gone).await?;
    }
    workspaces::delete_empty(tx, root).await?;
    Ok(deleted < u64::from(limit))
}
