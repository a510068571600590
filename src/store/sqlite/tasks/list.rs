//! Tasks, listed and followed.

use sqlx::{QueryBuilder, Row as _};

use super::{
    fault::Fault,
    rows::{COLUMNS, column, number, of_row, parsed},
};
use crate::{
    context::{TaskId, UserId},
    store::{
        sqlite::Sqlite,
        tasks::{
            Changes, Filter, Kind, Listed, MAX_PAGE_BYTES, Place, Refused, Scope, Task, Tree, life::State,
        },
    },
};

const POSITION: &str = "SELECT last FROM task_position";

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
        let mut query = select(user, filter);
        // Parents are made before their children.
        let newest_first = !matches!(filter.scope, Scope::Tree(_));
        if let Some(after) = from {
            query.push(if newest_first { " AND t.number < " } else { " AND t.number > " });
            query.push_bind(column(after));
        }
        query.push(if newest_first { " ORDER BY t.number DESC" } else { " ORDER BY t.number" });
        query.push(" LIMIT ").push_bind(i64::from(limit) + 1);
        let rows = query.build().fetch_all(self.readers().await?).await?;
        let (mut tasks, mut bytes, mut next) = (Vec::new(), 0, None);
        for row in &rows {
            let task = of_row(row)?.task;
            bytes += size(&task);
            let full = tasks.len() == limit as usize || bytes > MAX_PAGE_BYTES;
            if full && !tasks.is_empty() {
                return Ok(Listed { tasks, next });
            }
            next = Some(number(row.try_get("number")?));
            tasks.push(task);
        }
        Ok(Listed { tasks, next: None })
    }

    pub(super) async fn changed_tasks(
        &self,
        user: &UserId,
        filter: &Filter,
        after: u64,
        limit: u32,
    ) -> Result<Changes, Fault> {
        // Both are of one state.
        let mut reading = self.readers().await?.begin().await?;
        let last: i64 = sqlx::query_scalar(POSITION).fetch_one(&mut *reading).await?;
        let mut query = select(user, filter);
        if after == 0 {
            query.push(" AND t.ended_at IS NULL");
        }
        query.push(" AND t.position > ").push_bind(column(after));
        query.push(" ORDER BY t.position LIMIT ").push_bind(limit);
        let rows = query.build().fetch_all(&mut *reading).await?;
        let (mut tasks, mut bytes) = (Vec::<Task>::new(), 0);
        for row in &rows {
            let task = of_row(row)?.task;
            bytes += size(&task);
            if bytes > MAX_PAGE_BYTES && !tasks.is_empty() {
                break;
            }
            tasks.push(task);
        }
        let more = tasks.len() < rows.len() || rows.len() == limit as usize;
        let up_to = match (more, tasks.last()) {
            (true, Some(last)) => last.position,
            _ => number(last),
        };
        Ok(Changes { tasks, up_to, more })
    }
}

fn size(task: &Task) -> usize {
    task.request.len() + task.message.len() + task.result.as_deref().map_or(0, str::len)
}

fn select(user: &UserId, filter: &Filter) -> QueryBuilder<sqlx::Sqlite> {
    let mut query =
        QueryBuilder::new(format!("SELECT {COLUMNS} FROM tasks t WHERE t.deleted = 0 AND t.user_id = "));
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
    among(&mut query, "t.kind", filter.kinds.iter().map(|kind: &Kind| kind.word().to_owned()));
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
