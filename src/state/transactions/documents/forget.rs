//! Deletion of the documents of a tree that is deleted or never began. Their blobs are deleted by the sweep.

use crate::{
    Store,
    documents::{
        UNBEGUN_RETENTION,
        rows::{self as documents, postings, versions, workspaces},
    },
};
use toolwire_db::{Durability, Error, Lane, StoreError, Tx};
use toolwire_tool::context::TaskId;

/// Maximum number of versions deleted by one transaction, so that other transactions run in between.
const AT_ONCE: u32 = 500;

impl Store {
    /// Deletes the documents of a tree that has not begun. Documents of other trees stay.
    pub async fn abandon_documents(&self, root: &TaskId) -> Result<(), StoreError> {
        let user = self.fetch_optional(workspaces::user_of(root)).await?;
        let Some(user) = user else { return Ok(()) };
        transact!(self, Lane::User(&user), Durability::Process, |tx| {
            // A repeat of the request may have created the tree meanwhile: its documents stay.
            let mut is_done = workspaces::has_begun(root).one(tx).await?;
            while !is_done {
                is_done = forget_tree(tx, root, AT_ONCE).await?;
            }
            Ok(())
        })
    }

    /// Deletes some of the documents of trees that never began and have not been written to for
    /// [`UNBEGUN_RETENTION`], and returns whether there may be more.
    pub async fn sweep_documents(&self) -> Result<bool, StoreError> {
        let before = self.now() - UNBEGUN_RETENTION;
        let unbegun = self.fetch_optional(workspaces::find_unbegun(before, None)).await?;
        let Some((root, user)) = unbegun else { return Ok(false) };
        let root = &root;
        transact!(self, Lane::User(&user), Durability::Process, |tx| {
            // It may have begun since it was found.
            let before = tx.now() - UNBEGUN_RETENTION;
            if workspaces::find_unbegun(before, Some(root)).optional(tx).await?.is_some() {
                forget_tree(tx, root, AT_ONCE).await?;
            }
            Ok(true)
        })
    }
}

/// Deletes some versions of a tree's documents, and the documents without remaining versions. Returns whether all are
/// deleted.
pub(in crate::transactions) async fn forget_tree(
    tx: &mut Tx,
    root: &TaskId,
    limit: u32,
) -> Result<bool, Error> {
    let deleted = versions::delete(tx, root, limit).await?;
    let gone = documents::delete_without_versions(root).all(tx).await?;
    // Before the workspace, whose `id` is the tree of the postings.
    if let Some(workspace) = workspaces::find(root).optional(tx).await? {
        postings::delete(tx, workspace.id, &gone).await?;
    }
    workspaces::delete_empty(root).run(tx).await?;
    Ok(deleted < u64::from(limit))
}
