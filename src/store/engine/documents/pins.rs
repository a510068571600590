//! Pinned versions of documents, for new tasks.

use crate::{
    engine::{Error, Tx},
    rows::documents,
};
use toolwire_contract::near;
use toolwire_tool::context::TaskId;

/// Maximum number of paths among which similar ones are sought.
const PATHS: u32 = 1_000;

/// A document at a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::engine) struct Pinned {
    pub(in crate::engine) path: String,
    /// Its last version.
    pub(in crate::engine) version: u32,
    /// Whether it contains untrusted text.
    pub(in crate::engine) untrusted: bool,
}

/// The last version of a document of a tree; similar paths if there is none at this path.
pub(in crate::engine) async fn present(
    tx: &mut Tx,
    root: &TaskId,
    path: &str,
) -> Result<Result<Pinned, Vec<String>>, Error> {
    if let Some((version, untrusted)) = documents::last_version(tx, root, path).await? {
        return Ok(Ok(Pinned { path: path.to_owned(), version, untrusted }));
    }
    let paths = documents::paths(tx, root, PATHS).await?;
    Ok(Err(near::names(path, paths.iter().map(String::as_str))))
}
