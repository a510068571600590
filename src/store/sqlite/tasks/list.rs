//! Tasks, listed and followed.

use sqlx::{Connection as _, QueryBuilder, Row as _};

use super::{
    fault::Fault,
    rows::{COLUMNS, column, number, of_row, parsed},
};
use crate::{
    sqlite::{Failed, Sqlite},
    tasks::{Changes, Filter, Kind, Listed, MAX_PAGE_BYTES, Place, Refused, Scope, Task, Tree, life::State},
};
use toolwire_tool::context::{TaskId, UserId};

/// What of a task can be long. Its texts are not read for this.
const SIZE: &str = "octet_length(t.request) + octet_length(t.message) + coalesce(octet_length(t.result), 0)";

const POSITION: &str = "SELECT coalesce(max(last), 0) FROM task_positions WHERE user_id = ?";

const TREE: &str =
    "SELECT root, user_id, tainted, state, reason FROM tasks WHERE id = ? AND user_id = ? AND deleted = 0";

impl Sqlite {
    pub(super) async fn user_task(&self, user: &UserId, id: &TaskId) -> Result<Task, Fault> {
        let query =
            format!("SELECT {COLUMNS} FROM tasks t WHERE t.id = ? AND t.user_id = ? AND t.deleted = 0");
        let row = sqlx::query(sqlx::AssertSqlSafe(query)).bind(id.as_str()).bind(user.as_str());
        let row = row.fetch_optional(self.readers().await?).await?.ok_or(Refused::Unknown)?;
        Ok(of_row(&row)?.task)
    }

    pub(super) async fn tree_of_task(&self, user: &UserId, id: &TaskId) -> Result<Tree, Fault> {
        let row = sqlx::query(TREE).bind(id.as_str()).bind(user.as_str());
        let row = row.fetch_optional(self.readers().await?).await?.ok_or(Refused::Unknown)?;
        let reason: Option<String> = row.try_get("reason")?;
        Ok(Tree {
            root: parsed(row.try_get("root")?)?,
            user: user.clone(),
            tainted: row.try_get("tainted")?,
            state: State::of_words(row.try_get("state")?, reason.as_deref()).ok_or(Refused::Unknown)?,
        })
    }

    pub(super) async fn listed_tasks(
        &self,
        user: &UserId,
        filter: &Filter,
        from: Option<Place>,
        limit: u32,
    ) -> Result<Listed, Fault> {
        let order = |query: &mut QueryBuilder<sqlx::Sqlite>, most: i64| {
            // Parents are made before their children.
            let newest_first = !matches!(filter.scope, Scope::Tree(_));
            if let Some(after) = from {
                query.push(if newest_first { " AND t.number < " } else { " AND t.number > " });
                query.push_bind(column(after));
            }
            query.push(if newest_first { " ORDER BY t.number DESC" } else { " ORDER BY t.number" });
            query.push(" LIMIT ").push_bind(most);
        };
        // What does not fit on the page is not read.
        let mut reading = self.reading(user).await?;
        let mut reading = reading.begin().await?;
        let mut query = select(SIZE, user, filter);
        order(&mut query, i64::from(limit) + 1);
        let sizes: Vec<i64> = query.build_query_scalar().fetch_all(&mut *reading).await?;
        let fitting = fitting(&sizes).min(limit as usize);
        let mut query = select(COLUMNS, user, filter);
        order(&mut query, column(fitting as u64));
        let rows = query.build().fetch_all(&mut *reading).await?;
        let next = match rows.last() {
            Some(last) if rows.len() < sizes.len() => Some(number(last.try_get("number")?)),
            _ => None,
        };
        let tasks: Result<_, Failed> = rows.iter().map(|row| Ok(of_row(row)?.task)).collect();
        Ok(Listed { tasks: tasks?, next })
    }

    pub(super) async fn changed_tasks(
        &self,
        user: &UserId,
        filter: &Filter,
        after: u64,
        limit: u32,
    ) -> Result<Changes, Fault> {
        let order = |query: &mut QueryBuilder<sqlx::Sqlite>, most: i64| {
            if after == 0 {
                query.push(" AND t.ended_at IS NULL");
            }
            query.push(" AND t.position > ").push_bind(column(after));
            query.push(" ORDER BY t.position LIMIT ").push_bind(most);
        };
        // All are of one state.
        let mut reading = self.reading(user).await?;
        let mut reading = reading.begin().await?;
        let last: i64 = sqlx::query_scalar(POSITION).bind(user.as_str()).fetch_one(&mut *reading).await?;
        let mut query = select(SIZE, user, filter);
        order(&mut query, i64::from(limit));
        let sizes: Vec<i64> = query.build_query_scalar().fetch_all(&mut *reading).await?;
        let mut query = select(COLUMNS, user, filter);
        order(&mut query, column(fitting(&sizes) as u64));
        let rows = query.build().fetch_all(&mut *reading).await?;
        let tasks: Result<Vec<_>, Failed> = rows.iter().map(|row| Ok(of_row(row)?.task)).collect();
        let tasks: Vec<Task> = tasks?;
        let more = tasks.len() < sizes.len() || sizes.len() == limit as usize;
        let up_to = match (more, tasks.last()) {
            (true, Some(last)) => last.position,
            _ => number(last),
        };
        Ok(Changes { tasks, up_to, more })
    }
}

/// How many of the next rows are a page: at least one.
fn fitting(sizes: &[i64]) -> usize {
    let mut bytes = 0;
    let fits = |size: &&i64| {
        bytes += number(**size);
        bytes <= MAX_PAGE_BYTES as u64
    };
    sizes.iter().take_while(fits).count().max(1)
}

fn select(what: &str, user: &UserId, filter: &Filter) -> QueryBuilder<sqlx::Sqlite> {
    let mut query =
        QueryBuilder::new(format!("SELECT {what} FROM tasks t WHERE t.deleted = 0 AND t.user_id = "));
    query.push_bind(user.to_string());
    match &filter.scope {
        Scope::All => {}
        Scope::Roots => {
            query.push(" AND t.parent IS NULL");
        }
        Scope::Tree(root) => {
            query.push(" AND t.root = ").push_bind(root.to_string());
        }
    }
    among(&mut query, "t.state", filter.states.iter().map(|state| (*state).to_owned()));
    among(&mut query, "t.role", filter.roles.iter().cloned());
    among(&mut query, "t.kind", filter.kinds.iter().map(|kind: &Kind| kind.into_str().to_owned()));
    for (key, value) in &filter.labels {
        query.push(" AND EXISTS (SELECT 1 FROM json_each(t.labels) l WHERE l.key = ").push_bind(key.clone());
        query.push(" AND l.value = ").push_bind(value.clone()).push(")");
    }
    query
}

/// Any of some values; any at all if there are none.
fn among(query: &mut QueryBuilder<sqlx::Sqlite>, column: &str, values: impl Iterator<Item = String>) {
    let mut values = values.peekable();
    if values.peek().is_none() {
        return;
    }
    query.push(format!(" AND {column} IN ("));
    let mut list = query.separated(", ");
    for value in values {
        list.push_bind(value);
    }
    query.push(")");
}
