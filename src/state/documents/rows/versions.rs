//! The table `versions`.

use std::collections::HashMap;

use crate::{
    blobs::rows as blobs,
    documents::{Change, Content, Document, Version},
};
use toolwire_base::digest::Digest;
use toolwire_db::{
    Error,
    sql::{Connection, Statement, insert, record, select, sql},
};
use toolwire_tool::context::TaskId;

record!(Content, "document", { digest, size, mime_type, tokens, tokens_estimated, summary, untrusted });

record!(Version, "document", { version, content: .., written_by, written_at, why, call_id });

/// Inserts the last version of a document. The use of its blob must be counted already.
pub(crate) fn insert(id: i64, document: &Document, change: &Change) -> Statement {
    let Content { digest, size, mime_type, tokens, tokens_estimated, summary, untrusted } = &document.content;
    insert! { versions:
        document = id, version = document.version, digest = *digest, size, mime_type, tokens, tokens_estimated, summary,
        untrusted, written_by = &change.by, written_at = document.updated_at, why = &change.why,
        call_id = &change.call_id, deleted = document.is_deleted(),
    }
}

pub(crate) fn find(document: i64, version: u32) -> Statement<Version> {
    select!(Version, "FROM versions WHERE document = {document} AND version = {version}")
}

/// Versions of the document at a path below a number, the newest first.
pub(crate) fn list(root: &TaskId, path: &str, below: u32, limit: u32) -> Statement<Version> {
    select!(
        Version,
        "FROM versions WHERE document = (SELECT id FROM documents WHERE root = {root} AND path = {path})
         AND version < {below} ORDER BY version DESC LIMIT {limit}"
    )
}

/// Deletes some versions of the documents of a tree, with the uses of their bytes, and returns their number.
pub(crate) async fn delete(db: &mut Connection, root: &TaskId, limit: u32) -> Result<u64, Error> {
    let delete: Statement<Option<Digest>> = sql!(
        "DELETE FROM versions WHERE (document, version) IN
         (SELECT v.document, v.version FROM versions v JOIN documents d ON d.id = v.document
          WHERE d.root = {root} LIMIT {limit}) RETURNING digest"
    );
    let deleted = delete.all(db).await?;
    let mut uses: HashMap<Digest, u32> = HashMap::new();
    for digest in deleted.iter().flatten() {
        *uses.entry(*digest).or_default() += 1;
    }
    for (digest, count) in uses {
        blobs::remove_uses(&digest, count).run(db).await?;
    }
    Ok(deleted.len() as u64)
}
