//! The table `versions`.

use std::collections::HashMap;

use super::blobs;
use crate::{
    Error,
    documents::{Change, Content, Document, Version},
    select, sql,
    sql::{Connection, Scalar, Statement, record},
};
use toolwire_base::digest::Digest;
use toolwire_tool::context::TaskId;

record!(Content, "document", { digest, size, mime_type, tokens, tokens_estimated, summary, untrusted });

record!(Version, "document", { version, content: .., written_by, written_at, why, call_id });

/// Inserts the version that a document now has as its last one. The use of its bytes is counted already.
pub(crate) async fn insert(
    connection: &mut Connection,
    id: i64,
    document: &Document,
    change: &Change,
) -> Result<(), Error> {
    let Content { digest, size, mime_type, tokens, tokens_estimated, summary, untrusted } = &document.content;
    let columns = [
        ("document", id.into()),
        ("version", document.version.into()),
        ("digest", (*digest).into()),
        ("size", size.into()),
        ("mime_type", mime_type.into()),
        ("tokens", tokens.into()),
        ("tokens_estimated", tokens_estimated.into()),
        ("summary", summary.into()),
        ("untrusted", untrusted.into()),
        ("written_by", (&change.by).into()),
        ("written_at", change.now.into()),
        ("why", (&change.why).into()),
        ("call_id", (&change.call_id).into()),
        ("deleted", document.is_deleted().into()),
    ];
    Statement::insert("versions", columns).execute(connection).await?;
    Ok(())
}

pub(crate) async fn find(
    connection: &mut Connection,
    document: i64,
    version: u32,
) -> Result<Option<Version>, Error> {
    select!(Version, "FROM versions WHERE document = ", document, " AND version = ", version)
        .optional(connection)
        .await
}

/// Versions of the document of a path, the newest first, below a number.
pub(crate) async fn list(
    connection: &mut Connection,
    root: &TaskId,
    path: &str,
    below: u32,
    limit: u32,
) -> Result<Vec<Version>, Error> {
    let mut list = Statement::select::<Version>("FROM versions WHERE document = ");
    list.push("(SELECT id FROM documents WHERE root = ").bind(root).push(" AND path = ").bind(path);
    list.push(") AND version < ").bind(below).push(" ORDER BY version DESC LIMIT ").bind(limit);
    list.all(connection).await
}

/// Deletes some versions of the documents of a tree, with the uses of their bytes, and returns their number.
pub(crate) async fn delete(connection: &mut Connection, root: &TaskId, limit: u32) -> Result<u64, Error> {
    let delete = sql! {
        "DELETE FROM versions WHERE (document, version) IN
            (SELECT v.document, v.version FROM versions v JOIN documents d ON d.id = v.document
             WHERE d.root = ", root,
        " LIMIT ", limit,
        ") RETURNING digest"
    };
    let deleted = delete.all::<Scalar<Option<Digest>>>(connection).await?;
    let mut uses: HashMap<Digest, u32> = HashMap::new();
    for Scalar(digest) in &deleted {
        if let Some(digest) = digest {
            *uses.entry(*digest).or_default() += 1;
        }
    }
    for (digest, count) in uses {
        blobs::remove_uses(connection, &digest, count).await?;
    }
    Ok(deleted.len() as u64)
}
