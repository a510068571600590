//! The table `documents`: each as its last version left it.

use crate::{
    Error,
    documents::{Change, Content, Criteria, Document},
    select, sql,
    sql::{Connection, FromValue, Scalar, Statement, Value, record},
};
use toolwire_tool::context::TaskId;

/// Tags in one text, each between two line breaks, so that a search for one finds the whole of it.
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

/// A document, by its identifier in other tables.
#[derive(Debug)]
pub(crate) struct Identified {
    pub(crate) id: i64,
    pub(crate) document: Document,
    /// Its etag before the last change.
    pub(crate) previous_etag: String,
}

record!(Identified, "document", { id, document: .., previous_etag });

pub(crate) async fn find(
    connection: &mut Connection,
    root: &TaskId,
    path: &str,
) -> Result<Option<Identified>, Error> {
    select!(Identified, "FROM documents WHERE root = ", root, " AND path = ", path).optional(connection).await
}

/// The last version of a document that is not deleted, and whether it is untrusted.
pub(crate) async fn last_version(
    connection: &mut Connection,
    root: &TaskId,
    path: &str,
) -> Result<Option<(u32, bool)>, Error> {
    let last = sql! {
        "SELECT version, untrusted FROM documents WHERE root = ", root,
        " AND path = ", path,
        " AND deleted = 0"
    };
    last.optional(connection).await
}

/// The first paths of a tree.
pub(crate) async fn paths(
    connection: &mut Connection,
    root: &TaskId,
    limit: u32,
) -> Result<Vec<String>, Error> {
    let paths = sql! {
        "SELECT path FROM documents WHERE root = ", root,
        " AND deleted = 0 ORDER BY path LIMIT ", limit
    };
    Ok(paths.all(connection).await?.into_iter().map(|Scalar(path)| path).collect())
}

/// Paths on either side of a path.
pub(crate) async fn paths_near(
    connection: &mut Connection,
    root: &TaskId,
    path: &str,
    limit: u32,
) -> Result<Vec<String>, Error> {
    let paths = sql! {
        "SELECT path FROM (SELECT path FROM documents WHERE root = ", root,
        " AND deleted = 0 AND path < ", path,
        " ORDER BY path DESC LIMIT ", limit,
        ") AS below UNION ALL SELECT path FROM (SELECT path FROM documents WHERE root = ", root,
        " AND deleted = 0 AND path > ", path,
        " ORDER BY path LIMIT ", limit,
        ") AS above"
    };
    Ok(paths.all(connection).await?.into_iter().map(|Scalar(path)| path).collect())
}

/// Documents that pass, by path, after a path.
pub(crate) async fn list(
    connection: &mut Connection,
    root: &TaskId,
    criteria: &Criteria,
    after: &str,
    limit: u32,
) -> Result<Vec<Document>, Error> {
    let mut list = Statement::select::<Document>("FROM documents WHERE root = ");
    filter(list.bind(root), criteria);
    list.push(" AND path > ").bind(after).push(" ORDER BY path LIMIT ").bind(limit);
    list.all(connection).await
}

/// Those of some documents that pass, in any order.
pub(crate) async fn list_of(
    connection: &mut Connection,
    root: &TaskId,
    ids: &[i64],
    criteria: &Criteria,
) -> Result<Vec<Identified>, Error> {
    let mut list = Statement::select::<Identified>("FROM documents WHERE root = ");
    filter(list.bind(root), criteria);
    // One parameter, so that the statement is the same for any number of them.
    let ids = serde_json::to_string(ids).expect("numbers are JSON");
    list.push(" AND id IN (SELECT value FROM json_each(").bind(ids).push("))");
    list.all(connection).await
}

/// Adds the conditions of a filter.
fn filter(statement: &mut Statement, criteria: &Criteria) {
    if !criteria.deleted {
        statement.push(" AND deleted = 0");
    }
    if !criteria.path_prefix.is_empty() {
        // Above everything that begins so: no character of a path is as high.
        let above = format!("{}\u{10ffff}", criteria.path_prefix);
        statement.push(" AND path >= ").bind(&criteria.path_prefix).push(" AND path < ").bind(above);
    }
    for tag in &criteria.tags {
        statement.push(" AND instr(tags, ").bind(format!("\n{tag}\n")).push(") > 0");
    }
    match criteria.mime_type.strip_suffix('*') {
        _ if criteria.mime_type.is_empty() => {}
        Some(beginning) => {
            statement.push(" AND substr(mime_type, 1, ").bind(beginning.chars().count());
            statement.push(") = ").bind(beginning);
        }
        None => {
            statement.push(" AND mime_type = ").bind(&criteria.mime_type);
        }
    }
    if !criteria.created_by.is_empty() {
        statement.push(" AND created_by = ").bind(&criteria.created_by);
    }
    if !criteria.updated_by.is_empty() {
        statement.push(" AND updated_by = ").bind(&criteria.updated_by);
    }
    if let Some(since) = criteria.since {
        statement.push(" AND updated_at >= ").bind(since);
    }
    if let Some(until) = criteria.until {
        statement.push(" AND updated_at < ").bind(until);
    }
}

/// Inserts a document without a version.
pub(crate) async fn insert(connection: &mut Connection, change: &Change) -> Result<Identified, Error> {
    let columns = [
        ("root", (&change.root).into()),
        ("path", (&change.path).into()),
        ("version", 0.into()),
        ("etag", "".into()),
        ("previous_etag", "".into()),
        ("deleted", false.into()),
        ("size", 0.into()),
        ("mime_type", "".into()),
        ("tokens", 0.into()),
        ("tokens_estimated", false.into()),
        ("summary", "".into()),
        ("untrusted", false.into()),
        ("description", "".into()),
        ("tags", "".into()),
        ("created_by", (&change.by).into()),
        ("created_at", change.now.into()),
        ("updated_by", "".into()),
        ("updated_at", 0.into()),
    ];
    Statement::insert("documents", columns).execute(connection).await?;
    let inserted = find(connection, &change.root, &change.path).await?;
    inserted.ok_or_else(|| Error::unreadable("document", "it is gone"))
}

/// Writes what may change of a document. The etag that it had becomes the previous one.
pub(crate) async fn update(connection: &mut Connection, id: i64, document: &Document) -> Result<(), Error> {
    let Content { digest, size, mime_type, tokens, tokens_estimated, summary, untrusted } = &document.content;
    let update = sql! {
        "UPDATE documents SET previous_etag = etag, version = ", document.version,
        ", etag = ", &document.etag,
        ", deleted = ", document.is_deleted(),
        ", digest = ", *digest,
        ", size = ", size,
        ", mime_type = ", mime_type,
        ", tokens = ", tokens,
        ", tokens_estimated = ", tokens_estimated,
        ", summary = ", summary,
        ", untrusted = ", untrusted,
        ", description = ", &document.description,
        ", tags = ", Lines(document.tags.as_slice()),
        ", updated_by = ", &document.updated_by,
        ", updated_at = ", document.updated_at,
        " WHERE id = ", id
    };
    update.execute(connection).await?;
    Ok(())
}

/// Deletes the documents of a tree that have no versions, and returns their identifiers.
pub(crate) async fn delete_without_versions(
    connection: &mut Connection,
    root: &TaskId,
) -> Result<Vec<i64>, Error> {
    let delete = sql! {
        "DELETE FROM documents WHERE root = ", root,
        " AND NOT EXISTS (SELECT 1 FROM versions WHERE document = documents.id) RETURNING id"
    };
    Ok(delete.all(connection).await?.into_iter().map(|Scalar(id)| id).collect())
}
