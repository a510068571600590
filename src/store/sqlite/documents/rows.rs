//! Rows of documents and versions, and what they say.

use sqlx::{Row, sqlite::SqliteRow};

use crate::{
    StoreError,
    documents::{Content, Document, Found, Version},
    sqlite::{Failed, time::instant},
};
use toolwire_base::digest::Digest;

/// The columns of a document, of `documents d`.
pub(super) const COLUMNS: &str = "d.id, d.root, d.path, d.version, d.etag, d.digest, d.size, d.mime_type, d.tokens, \
     d.tokens_estimated, d.summary, d.untrusted, d.description, d.tags, d.created_by, d.created_at, d.updated_by, \
     d.updated_at";

/// The columns of a version, of `versions v`.
pub(super) const VERSION_COLUMNS: &str = "v.version, v.digest, v.size, v.mime_type, v.tokens, v.tokens_estimated, \
     v.summary, v.untrusted, v.written_by, v.written_at, v.why, v.call_id";

/// Tags in one text, each between two line breaks, so that each is found as it stands.
pub(super) fn tags_column(tags: &[String]) -> String {
    match tags {
        [] => String::new(),
        tags => format!("\n{}\n", tags.join("\n")),
    }
}

pub(super) fn found(row: &SqliteRow) -> Result<Found, Failed> {
    Ok(Found { id: row.try_get("id")?, document: document(row)? })
}

pub(super) fn document(row: &SqliteRow) -> Result<Document, Failed> {
    let tags: String = row.try_get("tags")?;
    let root: String = row.try_get("root")?;
    Ok(Document {
        root: root.parse().map_err(|error| unreadable(&error))?,
        path: row.try_get("path")?,
        etag: row.try_get("etag")?,
        description: row.try_get("description")?,
        tags: tags.split('\n').filter(|tag| !tag.is_empty()).map(str::to_owned).collect(),
        created_by: row.try_get("created_by")?,
        created_at: instant(row.try_get("created_at")?),
        updated_by: row.try_get("updated_by")?,
        updated_at: instant(row.try_get("updated_at")?),
        version: row.try_get("version")?,
        content: content(row)?,
    })
}

pub(super) fn version(row: &SqliteRow) -> Result<Version, Failed> {
    Ok(Version {
        version: row.try_get("version")?,
        content: content(row)?,
        written_by: row.try_get("written_by")?,
        written_at: instant(row.try_get("written_at")?),
        why: row.try_get("why")?,
        call_id: row.try_get("call_id")?,
    })
}

fn content(row: &SqliteRow) -> Result<Content, Failed> {
    let digest: Option<Vec<u8>> = row.try_get("digest")?;
    let digest = digest.map(|bytes| Digest::from_bytes(&bytes).ok_or_else(|| unreadable(&"its digest")));
    let (size, tokens): (i64, i64) = (row.try_get("size")?, row.try_get("tokens")?);
    Ok(Content {
        digest: digest.transpose()?,
        size: u64::try_from(size).unwrap_or_default(),
        mime_type: row.try_get("mime_type")?,
        tokens: u64::try_from(tokens).unwrap_or_default(),
        tokens_estimated: row.try_get("tokens_estimated")?,
        summary: row.try_get("summary")?,
        untrusted: row.try_get("untrusted")?,
    })
}

fn unreadable(cause: &dyn std::fmt::Display) -> Failed {
    Failed::Store(StoreError::Unreadable { what: "document", cause: cause.to_string() })
}
