//! A document within a transaction: found, made, written.

use sqlx::{Row, SqliteConnection, query::Query, sqlite::SqliteArguments};

use super::{
    repeats::Answer,
    rows::{self, COLUMNS, VERSION_COLUMNS},
};
use crate::{
    documents::{Change as Changed, Content, Document, Outcome, Refused},
    sqlite::{Change, Failed, time::millis},
};
use toolwire_base::digest::Digest;
use toolwire_tool::context::TaskId;

const CREATE: &str = "INSERT INTO documents (root, path, version, etag, previous_etag, deleted, digest, size, mime_type, \
     tokens, tokens_estimated, summary, untrusted, description, tags, created_by, created_at, updated_by, updated_at) \
     VALUES (?, ?, 0, '', '', 0, NULL, 0, '', 0, 0, '', 0, '', '', ?, ?, '', 0)";

const WRITE: &str = "UPDATE documents SET version = ?, previous_etag = etag, etag = ?, deleted = ?, digest = ?, size = ?, \
     mime_type = ?, tokens = ?, tokens_estimated = ?, summary = ?, untrusted = ?, description = ?, tags = ?, \
     updated_by = ?, updated_at = ? WHERE id = ?";

const ADD_VERSION: &str = "INSERT INTO versions (document, version, digest, size, mime_type, tokens, tokens_estimated, \
     summary, untrusted, written_by, written_at, why, call_id, deleted) \
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

pub(super) struct Standing {
    pub(super) id: i64,
    pub(super) document: Document,
    /// What its etag was before the last change.
    pub(super) previous_etag: String,
}

/// The document of a path.
pub(super) async fn find(
    connection: &mut SqliteConnection,
    root: &TaskId,
    path: &str,
) -> Result<Option<Standing>, Failed> {
    let query = format!("SELECT {COLUMNS}, d.previous_etag FROM documents d WHERE d.root = ? AND d.path = ?");
    let query = sqlx::query(sqlx::AssertSqlSafe(query)).bind(root.as_str()).bind(path);
    let Some(row) = query.fetch_optional(connection).await? else { return Ok(None) };
    Ok(Some(Standing {
        id: row.try_get("id")?,
        document: rows::document(&row)?,
        previous_etag: row.try_get("previous_etag")?,
    }))
}

/// A document without a version yet.
pub(super) async fn create(change: &mut Change, of: &Changed) -> Result<Standing, Failed> {
    let create = sqlx::query(CREATE).bind(of.root.as_str()).bind(of.path.as_str());
    let create = create.bind(of.by.as_str()).bind(millis(of.now));
    create.execute(&mut **change).await?;
    let made = find(change, &of.root, &of.path).await?;
    Ok(made.expect("it was inserted in this transaction"))
}

/// Writes a document, which gives it another etag.
pub(super) async fn write(change: &mut Change, id: i64, mut document: Document) -> Result<Document, Failed> {
    let now = millis(document.updated_at);
    // Of nothing that others share: a number of the table's could be found by trying.
    let (root, path) = (document.root.to_string(), document.path.clone());
    let parts = [root, path, document.version.to_string(), document.etag, now.to_string()];
    document.etag = Digest::of_parts(parts).to_string();
    document.etag.truncate(16);
    let write =
        sqlx::query(WRITE).bind(document.version).bind(document.etag.as_str()).bind(document.is_deleted());
    let write = bind_content(write, &document.content)
        .bind(document.description.as_str())
        .bind(rows::tags_column(&document.tags))
        .bind(document.updated_by.as_str())
        .bind(now)
        .bind(id);
    write.execute(&mut **change).await?;
    Ok(document)
}

/// The columns of content, in the order of [`WRITE`] and [`ADD_VERSION`].
fn bind_content<'a>(
    query: Query<'a, sqlx::Sqlite, SqliteArguments>,
    content: &'a Content,
) -> Query<'a, sqlx::Sqlite, SqliteArguments> {
    query
        .bind(content.digest.map(|digest| digest.as_bytes().to_vec()))
        .bind(count(content.size))
        .bind(content.mime_type.as_str())
        .bind(count(content.tokens))
        .bind(content.tokens_estimated)
        .bind(content.summary.as_str())
        .bind(content.untrusted)
}

/// Adds the version that the document now has as its last one.
pub(super) async fn add_version(
    change: &mut Change,
    id: i64,
    document: &Document,
    of: &Changed,
) -> Result<(), Failed> {
    let add = sqlx::query(ADD_VERSION).bind(id).bind(document.version);
    let add = bind_content(add, &document.content)
        .bind(of.by.as_str())
        .bind(millis(of.now))
        .bind(of.why.as_str())
        .bind(of.call_id.as_str())
        .bind(document.is_deleted());
    add.execute(&mut **change).await?;
    Ok(())
}

/// The document as an earlier request left it, whatever was written since.
pub(super) async fn as_answered(
    change: &mut Change,
    root: &TaskId,
    path: &str,
    answer: &Answer,
) -> Result<Outcome, Failed> {
    let Some(found) = find(change, root, path).await? else { return Ok(Err(Refused::Unknown)) };
    let Standing { id, mut document, .. } = found;
    if document.etag == answer.etag {
        return Ok(Ok(document));
    }
    let query = format!("SELECT {VERSION_COLUMNS} FROM versions v WHERE v.document = ? AND v.version = ?");
    let query = sqlx::query(sqlx::AssertSqlSafe(query)).bind(id).bind(answer.version);
    let Some(row) = query.fetch_optional(&mut **change).await? else { return Ok(Err(Refused::Unknown)) };
    let written = rows::version(&row)?;
    document.etag.clone_from(&answer.etag);
    (document.version, document.content) = (written.version, written.content);
    (document.updated_by, document.updated_at) = (written.written_by, written.written_at);
    Ok(Ok(document))
}

fn count(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
