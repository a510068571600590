//! Documents that are passed to a task or with its result, pinned to their current versions.

use super::error::TxError;
use crate::{
    documents::rows as documents,
    tasks::{Refused, entry::DocumentVersion},
};
use toolwire_contract::near;
use toolwire_db::Tx;
use toolwire_tool::context::TaskId;

/// Maximum number of paths that are searched for similar ones.
const MAX_PATHS: u32 = 1_000;

/// Pins documents of a tree to their last versions, and returns whether any of them contains untrusted text.
pub(super) async fn pin(
    tx: &mut Tx,
    root: &TaskId,
    paths: &[String],
) -> Result<(Vec<DocumentVersion>, bool), TxError> {
    let (mut pinned, mut any_untrusted) = (Vec::with_capacity(paths.len()), false);
    for path in paths {
        let Some((version, untrusted)) = documents::last_version(root, path).optional(tx).await? else {
            let others = documents::paths(root, MAX_PATHS).all(tx).await?;
            let near = near::names(path, others.iter().map(String::as_str));
            return Err(Refused::NoSuchDocument { path: path.clone(), near }.into());
        };
        any_untrusted |= untrusted;
        pinned.push(DocumentVersion { path: path.clone(), version });
    }
    Ok((pinned, any_untrusted))
}
