//! The table `documents`: the last version of each, and its metadata.

pub(crate) mod postings;
pub(crate) mod versions;
pub(crate) mod workspaces;

use std::time::SystemTime;

use crate::documents::{Change, Content, Criteria, Document};
use toolwire_db::{
    Error,
    sql::{Connection, FromValue, Statement, Value, insert, record, select, sql},
};
use toolwire_tool::context::TaskId;

/// Tags in one text, each between two line breaks, so that a search for one matches only a whole tag.
struct Lines<T>(T);

impl From<Lines<&[String]>> for Value {
    fn from(Lines(lines): Lines<&[String]>) -> Self {
        match lines {
            [] => Self::from(""),
            lines => Self::Text(format!("\n{}\n", lines.join("\n"))),
        }
    }
}

impl FromValue for Lines<Vec<String>> {
    fn from_value(value: Value) -> Option<Self> {
        let text = String::from_value(value)?;
        Some(Self(text.split('\n').filter(|line| !line.is_empty()).map(str::to_owned).collect()))
    }
}

record!(Document, "document", {
    root, path, etag, description, tags via Lines, created_by, created_at, updated_by, updated_at, version, content: ..,
});

/// A document, with its identifier in other tables.
#[derive(Debug)]
pub(crate) struct Identified {
    pub(crate) id: i64,
    pub(crate) document: Document,
    /// Its etag before the last change.
    pub(crate) previous_etag: String,
}

record!(Identified, "document", { id, document: .., previous_etag });

pub(crate) fn find(root: &TaskId, path: &str) -> Statement<Identified> {
    select!(Identified, "FROM documents WHERE root = {root} AND path = {path}")
}

/// The last version of a document that is not deleted, and whether it is untrusted.
pub(crate) fn last_version(root: &TaskId, path: &str) -> Statement<(u32, bool)> {
    sql!("SELECT version, untrusted FROM documents WHERE root = {root} AND path = {path} AND deleted = 0")
}

/// The first paths of a tree.
pub(crate) fn paths(root: &TaskId, limit: u32) -> Statement<String> {
    sql!("SELECT path FROM documents WHERE root = {root} AND deleted = 0 ORDER BY path LIMIT {limit}")
}

/// Paths on either side of a path.
pub(crate) fn paths_near(root: &TaskId, path: &str, limit: u32) -> Statement<String> {
    sql!(
        "SELECT path FROM (SELECT path FROM documents WHERE root = {root} AND deleted = 0 AND path < {path}
                           ORDER BY path DESC LIMIT {limit}) AS below
         UNION ALL SELECT path FROM (SELECT path FROM documents WHERE root = {root} AND deleted = 0 AND path > {path}
                                     ORDER BY path LIMIT {limit}) AS above"
    )
}

/// The documents that match, after a path, in order of path.
pub(crate) fn list(root: &TaskId, criteria: &Criteria, after: &str, limit: u32) -> Statement<Document> {
    let filter = filter(criteria);
    select!(
        Document,
        "FROM documents WHERE root = {root}{..filter} AND path > {after} ORDER BY path LIMIT {limit}"
    )
}

/// Those of some documents that match, unordered.
pub(crate) fn list_of(root: &TaskId, ids: &[i64], criteria: &Criteria) -> Statement<Identified> {
    // One parameter, so that the text of the statement does not depend on their number.
    let ids = serde_json::to_string(ids).expect("numbers are JSON");
    let ids = sql!("SELECT CAST(value AS BIGINT) FROM json_each({ids})");
    select!(Identified, "FROM documents WHERE root = {root}{..filter(criteria)} AND id IN ({..ids})")
}

/// The conditions of a filter.
fn filter(criteria: &Criteria) -> Statement {
    let mut filter = Statement::default().append_if(!criteria.deleted, " AND deleted = 0");
    if !criteria.path_prefix.is_empty() {
        // Above every path with this prefix, since no path contains this character.
        let above = format!("{}\u{10ffff}", criteria.path_prefix);
        filter = filter.and(sql!(" AND path >= {&criteria.path_prefix} AND path < {above}"));
    }
    for tag in &criteria.tags {
        let line = format!("\n{tag}\n");
        filter = filter.and(sql!(" AND instr(tags, {line}) > 0"));
    }
    filter = match criteria.mime_type.strip_suffix('*') {
        Some(beginning) => {
            filter.and(sql!(" AND substr(mime_type, 1, {beginning.chars().count()}) = {beginning}"))
        }
        None => filter.when_nonempty(" AND mime_type = ", &criteria.mime_type),
    };
    filter
        .when_nonempty(" AND created_by = ", &criteria.created_by)
        .when_nonempty(" AND updated_by = ", &criteria.updated_by)
        .when(" AND updated_at >= ", criteria.since)
        .when(" AND updated_at < ", criteria.until)
}

/// Inserts a document without a version.
pub(crate) async fn insert(
    db: &mut Connection,
    change: &Change,
    now: SystemTime,
) -> Result<Identified, Error> {
    let Change { root, path, by, .. } = change;
    let insert = insert! { documents:
        root, path, version = 0, etag = "", previous_etag = "", deleted = false, size = 0, mime_type = "", tokens = 0,
        tokens_estimated = false, summary = "", untrusted = false, description = "", tags = "", created_by = by,
        created_at = now, updated_by = "", updated_at = 0,
    };
    insert.run(db).await?;
    let inserted = find(root, path).optional(db).await?;
    inserted.ok_or_else(|| Error::unreadable("document", "it is gone"))
}

/// Updates the mutable columns of a document. Its etag becomes the previous one.
pub(crate) fn update(id: i64, document: &Document) -> Statement {
    let Content { digest, size, mime_type, tokens, tokens_estimated, summary, untrusted } = &document.content;
    let Document { version, etag, description, updated_by, updated_at, .. } = document;
    let (deleted, tags) = (document.is_deleted(), Lines(document.tags.as_slice()));
    sql!(
        "UPDATE documents SET previous_etag = etag, version = {version}, etag = {etag}, deleted = {deleted},
         digest = {*digest}, size = {size}, mime_type = {mime_type}, tokens = {tokens},
         tokens_estimated = {tokens_estimated}, summary = {summary}, untrusted = {untrusted},
         description = {description}, tags = {tags}, updated_by = {updated_by}, updated_at = {updated_at}
         WHERE id = {id}"
    )
}

/// Deletes the documents of a tree that have no versions, and returns their identifiers.
pub(crate) fn delete_without_versions(root: &TaskId) -> Statement<i64> {
    sql!(
        "DELETE FROM documents WHERE root = {root}
         AND NOT EXISTS (SELECT 1 FROM versions WHERE document = documents.id) RETURNING id"
    )
}
