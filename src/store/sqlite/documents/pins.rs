//! Documents that a task is given, at the versions of this instant.

use sqlx::Row;

use crate::sqlite::{Change, Failed};
use toolwire_contract::near;
use toolwire_tool::context::TaskId;

const PRESENT: &str = "SELECT version, untrusted FROM documents WHERE root = ? AND path = ? AND deleted = 0";

const PATHS: &str = "SELECT path FROM documents WHERE root = ? AND deleted = 0 ORDER BY path LIMIT 1000";

/// A document at a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::sqlite) struct Pinned {
    pub(in crate::sqlite) path: String,
    /// Its last version.
    pub(in crate::sqlite) version: u32,
    /// Whether there is text from outside in it.
    pub(in crate::sqlite) untrusted: bool,
}

/// The last version of a document of a tree; near paths if there is none of this path.
pub(in crate::sqlite) async fn present(
    change: &mut Change,
    root: &TaskId,
    path: &str,
) -> Result<Result<Pinned, Vec<String>>, Failed> {
    let row = sqlx::query(PRESENT).bind(root.as_str()).bind(path).fetch_optional(&mut **change).await?;
    if let Some(row) = row {
        let (version, untrusted) = (row.try_get("version")?, row.try_get("untrusted")?);
        return Ok(Ok(Pinned { path: path.to_owned(), version, untrusted }));
    }
    let paths: Vec<String> = sqlx::query_scalar(PATHS).bind(root.as_str()).fetch_all(&mut **change).await?;
    Ok(Err(near::names(path, paths.iter().map(String::as_str))))
}
