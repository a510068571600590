//! The quotas of a tree and of a user.

use crate::documents::{
    MAX_DOCUMENTS, MAX_TREE_BYTES, MAX_USER_BYTES, Quota,
    rows::workspaces::{self, Workspace},
};
use toolwire_db::{Error, Tx};
use toolwire_tool::context::UserId;

/// Returns the quota that this many more documents and bytes would exceed; `None` if they fit.
pub(super) async fn check(
    tx: &mut Tx,
    workspace: &Workspace,
    user: &UserId,
    documents: u64,
    bytes: u64,
) -> Result<Option<Quota>, Error> {
    if documents > 0 && workspace.documents.saturating_add(documents) > MAX_DOCUMENTS {
        return Ok(Some(Quota::Documents));
    }
    if bytes > 0 && workspace.bytes.saturating_add(bytes) > MAX_TREE_BYTES {
        return Ok(Some(Quota::TreeBytes));
    }
    let of_user = workspaces::user_bytes(user).one(tx).await?;
    let is_exceeded = bytes > 0 && of_user.saturating_add(bytes) > MAX_USER_BYTES;
    Ok(is_exceeded.then_some(Quota::UserBytes))
}
