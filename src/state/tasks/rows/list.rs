//! Lists of tasks. Their long texts are measured first, so that tasks that do not fit on the page are not read.

use super::{StoredTask, columns};
use crate::tasks::{Cursor, Filter, Scope};
use toolwire_db::{
    Error,
    sql::{FromRow, Json, Row, Statement, sql},
};
use toolwire_tool::context::UserId;

/// The order of a list, and where it begins.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Order {
    /// In order of creation: parents before their children.
    OldestFirst(Option<Cursor>),
    NewestFirst(Option<Cursor>),
    /// In order of their last changes, after a position; after 0, only tasks that have not ended.
    ByChange(u64),
}

/// The number of each task of a list, and the bytes of its long texts.
pub(crate) fn sizes(user: &UserId, filter: &Filter, order: Order, limit: u64) -> Statement<(Cursor, u64)> {
    sql!(
        "SELECT number, octet_length(request) + octet_length(message) + coalesce(octet_length(result), 0)
         FROM tasks WHERE deleted = 0 {..restrict(user, filter, order, limit)}"
    )
}

/// Tasks by their numbers, in any order. By the key, so that no long text is sorted.
pub(crate) fn numbered(numbers: &[Cursor]) -> Statement<StoredTask> {
    sql!(
        "SELECT {..columns()} FROM tasks WHERE number IN (SELECT CAST(value AS BIGINT) FROM json_each({Json(numbers)}))"
    )
}

/// Tasks of all users after a number, in order of creation. A task that cannot be read is an error of its own.
pub(crate) fn all_after(after: Cursor, limit: u32) -> Statement<Checked> {
    sql!(
        "SELECT {..columns()} FROM tasks WHERE deleted = 0 AND number > {after} ORDER BY number LIMIT {limit}"
    )
}

/// A row of `tasks` that may be unreadable.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(crate) number: Cursor,
    pub(crate) id: String,
    pub(crate) task: Result<StoredTask, Error>,
}

impl FromRow for Checked {
    fn from_row(row: &Row) -> Result<Self, Error> {
        Ok(Self { number: row.get("number")?, id: row.get("id")?, task: StoredTask::from_row(row) })
    }
}

fn restrict(user: &UserId, filter: &Filter, order: Order, limit: u64) -> Statement {
    let mut list = sql!("AND user_id = {user}");
    list = match &filter.scope {
        Scope::All => list,
        Scope::Roots => list.and(" AND parent IS NULL"),
        Scope::Tree(root) => list.and(sql!(" AND root = {root}")),
    };
    list = list
        .when_any(" AND state IN (", filter.states.iter().copied())
        .when_any(" AND role IN (", &filter.roles)
        .when_any(" AND kind IN (", filter.kinds.iter().copied());
    for (key, value) in &filter.labels {
        let label = sql!("SELECT 1 FROM json_each(labels) l WHERE l.key = {key} AND l.value = {value}");
        list = list.and(sql!(" AND EXISTS ({..label})"));
    }
    list = match order {
        Order::OldestFirst(after) => list.when(" AND number > ", after).and(" ORDER BY number"),
        Order::NewestFirst(before) => list.when(" AND number < ", before).and(" ORDER BY number DESC"),
        Order::ByChange(after) => list
            .append_if(after == 0, " AND ended_at IS NULL")
            .and(sql!(" AND position > {after} ORDER BY position")),
    };
    list.and(sql!(" LIMIT {limit}"))
}
