//! Documents of new tasks, pinned to their current versions.

use super::error::TxError;
use crate::{
    engine::{Tx, documents::pins},
    tasks::{Refused, entry::DocumentVersion},
};
use toolwire_tool::context::TaskId;

/// The last versions of documents of a tree, and whether any of them contains untrusted text.
pub(super) async fn present(
    tx: &mut Tx,
    root: &TaskId,
    paths: &[String],
) -> Result<(Vec<DocumentVersion>, bool), TxError> {
    let (mut found, mut any_untrusted) = (Vec::with_capacity(paths.len()), false);
    for path in paths {
        let pinned = pins::present(tx, root, path).await?;
        let pinned = pinned.map_err(|near| Refused::NoSuchDocument { path: path.clone(), near })?;
        any_untrusted |= pinned.untrusted;
        found.push(DocumentVersion { path: pinned.path, version: pinned.version });
    }
    Ok((found, any_untrusted))
}
