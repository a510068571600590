//! Documents and their versions, read.

use sqlx::{QueryBuilder, Row};

use super::rows::{COLUMNS, VERSION_COLUMNS, document, found, version};
use crate::{
    StoreError,
    documents::{Criteria, Document, Found, Tree, Version},
    sqlite::{Failed, Sqlite, time::millis},
};
use toolwire_tool::context::TaskId;

const TREE: &str = "SELECT root, user_id, tainted FROM tasks WHERE id = ? AND deleted = 0";

/// On either side of a path.
const NEAR: &str = "SELECT path FROM (SELECT path FROM documents WHERE root = ?1 AND deleted = 0 AND path < ?2 \
     ORDER BY path DESC LIMIT 500) \
     UNION ALL SELECT path FROM (SELECT path FROM documents WHERE root = ?1 AND deleted = 0 AND path > ?2 \
     ORDER BY path LIMIT 500)";

impl Sqlite {
    pub(super) async fn tree_of(&self, task: &TaskId) -> Result<Option<Tree>, Failed> {
        let row = sqlx::query(TREE).bind(task.as_str()).fetch_optional(self.readers().await?).await?;
        let Some(row) = row else { return Ok(None) };
        let (root, user): (String, String) = (row.try_get("root")?, row.try_get("user_id")?);
        let tainted: Option<bool> = row.try_get("tainted")?;
        let unreadable = |cause: String| StoreError::Unreadable { what: "task", cause };
        Ok(Some(Tree {
            root: root
                .parse()
                .map_err(|error: toolwire_tool::context::InvalidId| unreadable(error.to_string()))?,
            user: user
                .parse()
                .map_err(|error: toolwire_tool::context::InvalidId| unreadable(error.to_string()))?,
            tainted: tainted.unwrap_or(false),
        }))
    }

    pub(super) async fn document(&self, root: &TaskId, path: &str) -> Result<Option<Document>, Failed> {
        let query = format!("SELECT {COLUMNS} FROM documents d WHERE d.root = ? AND d.path = ?");
        let query = sqlx::query(sqlx::AssertSqlSafe(query)).bind(root.as_str()).bind(path);
        let row = query.fetch_optional(self.readers().await?).await?;
        row.map(|row| document(&row)).transpose()
    }

    pub(super) async fn paths_near(&self, root: &TaskId, path: &str) -> Result<Vec<String>, Failed> {
        let query = sqlx::query_scalar(NEAR).bind(root.as_str()).bind(path);
        Ok(query.fetch_all(self.readers().await?).await?)
    }

    pub(super) async fn listed_documents(
        &self,
        root: &TaskId,
        criteria: &Criteria,
        after: &str,
        limit: u32,
    ) -> Result<Vec<Document>, Failed> {
        let mut query = select(root, criteria);
        query.push(" AND d.path > ").push_bind(after.to_owned());
        query.push(" ORDER BY d.path LIMIT ").push_bind(limit);
        let rows = query.build().fetch_all(self.readers().await?).await?;
        rows.iter().map(document).collect()
    }

    pub(super) async fn documents_among(
        &self,
        root: &TaskId,
        ids: &[i64],
        criteria: &Criteria,
    ) -> Result<Vec<Found>, Failed> {
        let mut query = select(root, criteria);
        let ids = serde_json::to_string(ids).expect("numbers are JSON");
        query.push(" AND d.id IN (SELECT value FROM json_each(").push_bind(ids).push("))");
        let rows = query.build().fetch_all(self.readers().await?).await?;
        rows.iter().map(found).collect()
    }

    pub(super) async fn versions_of(
        &self,
        root: &TaskId,
        path: &str,
        below: u32,
        limit: u32,
    ) -> Result<Vec<Version>, Failed> {
        let query = format!(
            "SELECT {VERSION_COLUMNS} FROM versions v \
             WHERE v.document = (SELECT id FROM documents WHERE root = ? AND path = ?) AND v.version < ? \
             ORDER BY v.version DESC LIMIT ?"
        );
        let query = sqlx::query(sqlx::AssertSqlSafe(query)).bind(root.as_str()).bind(path);
        let rows = query.bind(below).bind(limit).fetch_all(self.readers().await?).await?;
        rows.iter().map(version).collect()
    }
}

fn select(root: &TaskId, criteria: &Criteria) -> QueryBuilder<sqlx::Sqlite> {
    let mut query = QueryBuilder::new(format!("SELECT {COLUMNS} FROM documents d WHERE d.root = "));
    query.push_bind(root.to_string());
    if !criteria.deleted {
        query.push(" AND d.deleted = 0");
    }
    if !criteria.path_prefix.is_empty() {
        // Above everything that begins so: no character of a path is as high.
        query.push(" AND d.path >= ").push_bind(criteria.path_prefix.clone());
        query.push(" AND d.path < ").push_bind(format!("{}\u{10ffff}", criteria.path_prefix));
    }
    for tag in &criteria.tags {
        query.push(" AND instr(d.tags, ").push_bind(format!("\n{tag}\n")).push(") > 0");
    }
    match criteria.mime_type.strip_suffix('*') {
        _ if criteria.mime_type.is_empty() => {}
        Some(beginning) => {
            let length = i64::try_from(beginning.chars().count()).unwrap_or(i64::MAX);
            query.push(" AND substr(d.mime_type, 1, ").push_bind(length).push(") = ");
            query.push_bind(beginning.to_owned());
        }
        None => {
            query.push(" AND d.mime_type = ").push_bind(criteria.mime_type.clone());
        }
    }
    for (column, value) in [("created_by", &criteria.created_by), ("updated_by", &criteria.updated_by)] {
        if !value.is_empty() {
            query.push(format!(" AND d.{column} = ")).push_bind(value.clone());
        }
    }
    if let Some(since) = criteria.since {
        query.push(" AND d.updated_at >= ").push_bind(millis(since));
    }
    if let Some(until) = criteria.until {
        query.push(" AND d.updated_at < ").push_bind(millis(until));
    }
    query
}
