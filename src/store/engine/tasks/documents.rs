//! Documents of new tasks, pinned to their current versions.

use super::error::TxError;
use crate::{
    engine::Tx,
    rows::documents,
    tasks::{Refused, entry::DocumentVersion},
};
use toolwire_contract::near;
use toolwire_tool::context::TaskId;

/// Maximum number of paths among which similar ones are sought.
const PATHS: u32 = 1_000;

/// The last versions of documents of a tree, and whether any of them contains untrusted text.
pub(super) async fn present(
    tx: &mut Tx,
    root: &TaskId,
    paths: &[String],
) -> Result<(Vec<DocumentVersion>, bool), TxError> {
    let (mut found, mut any_untrusted) = (Vec::with_capacity(paths.len()), false);
    for path in paths {
        let Some((version, untrusted)) = documents::last_version(root, path).optional(tx).await? else {
            let others = documents::paths(root, PATHS).all(tx).await?;
            let near = near::names(path, others.iter().map(String::as_str));
            return Err(Refused::NoSuchDocument { path: path.clone(), near }.into());
        };
        any_untrusted |= untrusted;
        found.push(DocumentVersion { path: path.clone(), version });
    }
    Ok((found, any_untrusted))
}
