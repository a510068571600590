//! Lists of tasks. What can be long of them is measured first, so that what does not fit on a page is not read.

use super::{StoredTask, select_stored};
use crate::{
    Error,
    rows::waits,
    sql::{Connection, FromRow, Row, Scalar, Statement, Value},
    tasks::{Cursor, Filter, Scope},
};
use toolwire_tool::context::UserId;

/// The order of a list, and where it begins.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Order {
    /// As the tasks were made: parents before their children.
    OldestFirst(Option<Cursor>),
    NewestFirst(Option<Cursor>),
    /// As the tasks changed after a position; after 0, only those that have not ended.
    ByChange(u64),
}

/// The bytes of the long texts of each task of a list.
pub(crate) async fn sizes(
    connection: &mut Connection,
    user: &UserId,
    filter: &Filter,
    order: Order,
    limit: u64,
) -> Result<Vec<u64>, Error> {
    let mut sizes = Statement::default();
    sizes.push("SELECT octet_length(request) + octet_length(message) + coalesce(octet_length(result), 0)");
    sizes.push(" FROM tasks WHERE deleted = 0");
    restrict(&mut sizes, user, filter, order, limit);
    Ok(sizes.all(connection).await?.into_iter().map(|Scalar(size)| size).collect())
}

pub(crate) async fn list(
    connection: &mut Connection,
    user: &UserId,
    filter: &Filter,
    order: Order,
    limit: u64,
) -> Result<Vec<StoredTask>, Error> {
    let mut list = select_stored("FROM tasks WHERE deleted = 0");
    restrict(&mut list, user, filter, order, limit);
    list.all(connection).await
}

/// Tasks of all users after a number, in the order in which they were made. A task that cannot be read is an error of
/// its own.
pub(crate) async fn all_after(
    connection: &mut Connection,
    after: Cursor,
    limit: u32,
) -> Result<Vec<Checked>, Error> {
    let mut all = Statement::select_with::<Checked>(
        "waits",
        waits::OF_TASK,
        "FROM tasks WHERE deleted = 0 AND number > ",
    );
    all.bind(after).push(" ORDER BY number LIMIT ").bind(limit);
    all.all(connection).await
}

/// A row of `tasks`, whether it can be read or not.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(crate) number: Cursor,
    pub(crate) id: String,
    pub(crate) task: Result<StoredTask, Error>,
}

impl FromRow for Checked {
    fn columns() -> Vec<&'static str> {
        StoredTask::columns()
    }

    fn from_row(row: &Row) -> Result<Self, Error> {
        Ok(Self { number: row.get("number")?, id: row.get("id")?, task: StoredTask::from_row(row) })
    }
}

fn restrict(list: &mut Statement, user: &UserId, filter: &Filter, order: Order, limit: u64) {
    list.push(" AND user_id = ").bind(user);
    match &filter.scope {
        Scope::All => {}
        Scope::Roots => _ = list.push(" AND parent IS NULL"),
        Scope::Tree(root) => _ = list.push(" AND root = ").bind(root),
    }
    any_of(list, " AND state IN ", filter.states.iter().copied());
    any_of(list, " AND role IN ", &filter.roles);
    any_of(list, " AND kind IN ", filter.kinds.iter().copied());
    for (key, value) in &filter.labels {
        list.push(" AND EXISTS (SELECT 1 FROM json_each(labels) l WHERE l.key = ").bind(key);
        list.push(" AND l.value = ").bind(value).push(")");
    }
    match order {
        Order::OldestFirst(after) => {
            if let Some(after) = after {
                list.push(" AND number > ").bind(after);
            }
            list.push(" ORDER BY number");
        }
        Order::NewestFirst(before) => {
            if let Some(before) = before {
                list.push(" AND number < ").bind(before);
            }
            list.push(" ORDER BY number DESC");
        }
        Order::ByChange(after) => {
            list.push(if after == 0 { " AND ended_at IS NULL" } else { "" });
            list.push(" AND position > ").bind(after).push(" ORDER BY position");
        }
    }
    list.push(" LIMIT ").bind(limit);
}

/// Restricts a column to some values; without any, to none in particular.
fn any_of<V: Into<Value>>(list: &mut Statement, text: &'static str, values: impl IntoIterator<Item = V>) {
    let mut values = values.into_iter().peekable();
    if values.peek().is_some() {
        list.push(text).bind_list(values);
    }
}
