//! Statements with the values of their parameters.

mod table_copy;

use std::{borrow::Cow, marker::PhantomData};

use futures_util::{StreamExt, TryStreamExt, future::ready};
use sqlx::Executor;

use super::{Connection, FromRow, Row, Rows, Value, connection::Driver, dialect};
use crate::Error;

/// A statement, the values of its parameters, and the type that its rows are read as; `()` if it returns none. It is
/// written by [`sql!`](super::sql), [`select!`](super::select) and [`insert!`](super::insert).
#[derive(Debug)]
pub struct Statement<T = ()> {
    text: Cow<'static, str>,
    values: Vec<Value>,
    row: PhantomData<fn() -> T>,
}

impl<T> Default for Statement<T> {
    fn default() -> Self {
        Self::new("", Vec::new())
    }
}

/// A part that can be added to a statement: text with values, or without.
pub trait Part {
    fn into_statement(self) -> Statement;
}

impl Part for Statement {
    fn into_statement(self) -> Statement {
        self
    }
}

impl Part for &'static str {
    fn into_statement(self) -> Statement {
        Statement::new(self, Vec::new())
    }
}

/// The columns that a type is read from.
pub fn columns<T: FromRow>() -> Statement {
    columns_as::<T>("", &[])
}

/// The columns that a type is read from, each after a prefix: the alias of its table and a full stop. A computed column
/// is given by its name and an expression with that name as its alias.
pub fn columns_as<T: FromRow>(prefix: &str, computed: &[(&str, &str)]) -> Statement {
    let mut text = String::with_capacity(256);
    for column in T::columns() {
        text.push_str(if text.is_empty() { "" } else { ", " });
        match computed.iter().find(|(name, _)| *name == column) {
            Some((_, expression)) => text.push_str(expression),
            None => text.extend([prefix, column]),
        }
    }
    Statement { text: text.into(), values: Vec::new(), row: PhantomData }
}

/// Values, separated by commas.
pub fn values<V: Into<Value>>(values: impl IntoIterator<Item = V>) -> Statement {
    let mut list = Statement::default();
    for value in values {
        let comma = if list.values.is_empty() { "" } else { ", " };
        list = list.and(comma).bind(value);
    }
    list
}

impl Statement {
    /// Inserts one row, with the values of its columns.
    pub fn insert(table: &'static str, columns: impl IntoIterator<Item = (&'static str, Value)>) -> Self {
        let (names, bound): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
        let mut insert = Self::new("INSERT INTO ", Vec::new()).and(table);
        insert.text.to_mut().extend([" (", &names.join(", "), ") VALUES ("]);
        insert.and(values(bound)).and(")")
    }

    /// The assignments of an `UPDATE`.
    pub fn set(columns: impl IntoIterator<Item = (&'static str, Value)>) -> Self {
        let mut set = Self::default();
        for (column, value) in columns {
            let comma = if set.values.is_empty() { "" } else { ", " };
            set = set.and(comma).and(column).and(" = ").bind(value);
        }
        set
    }

    /// Inserts rows, at least one, each with the values of the same columns in the same order.
    pub fn insert_all<const N: usize>(
        table: &'static str,
        rows: impl IntoIterator<Item = [(&'static str, Value); N]>,
    ) -> Self {
        let mut insert = Self::new("INSERT INTO ", Vec::new()).and(table);
        for (index, row) in rows.into_iter().enumerate() {
            if index == 0 {
                let names = row.each_ref().map(|(name, _)| *name).join(", ");
                insert.text.to_mut().extend([" (", &names, ") VALUES "]);
            }
            let row = values(row.into_iter().map(|(_, value)| value));
            insert = insert.and(if index == 0 { "(" } else { ", (" }).and(row).and(")");
        }
        insert
    }

    /// Executes it.
    pub async fn run(self, db: &mut Connection) -> Result<(), Error> {
        self.execute(db).await.map(drop)
    }

    /// Executes it and returns how many rows it changed.
    pub async fn execute(self, db: &mut Connection) -> Result<u64, Error> {
        match db.driver() {
            Driver::Sqlite(db) => {
                let (text, arguments) = dialect::for_sqlite(self.text, self.values)?;
                Ok(sqlx::query_with(text, arguments).execute(db).await?.rows_affected())
            }
            // Boxed, here and below, or every future that awaits a statement would have the size of both drivers'.
            Driver::Postgres(db, link) => {
                let mut changed = 0;
                for statement in dialect::for_postgres(&self.text, self.values, link.protocol(db))? {
                    changed += Box::pin(link.run(db.execute(statement))).await?.rows_affected();
                }
                Ok(changed)
            }
        }
    }
}

impl<T> Statement<T> {
    /// A text in which each parameter is `?`, with their values in the same order. Not numbered: SQLite looks the
    /// name of a numbered parameter up, one by one, for each value that is bound.
    pub fn new(text: &'static str, values: Vec<Value>) -> Self {
        Self { text: text.into(), values, row: PhantomData }
    }

    /// Appends a part.
    pub fn and(mut self, part: impl Part) -> Self {
        let Statement { text, mut values, .. } = part.into_statement();
        let own = self.text.to_mut();
        // More than this part needs, so that later parts seldom reallocate.
        own.reserve(text.len() + 128);
        own.push_str(&text);
        self.values.append(&mut values);
        self
    }

    /// Appends a part if a condition holds.
    pub fn append_if(self, condition: bool, part: impl Part) -> Self {
        if condition { self.and(part) } else { self }
    }

    /// Appends a text and a value after it, if there is a value.
    pub fn when(self, text: &'static str, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.and(text).bind(value),
            None => self,
        }
    }

    /// Appends a text and a value after it, unless the value is empty.
    pub fn when_nonempty(self, text: &'static str, value: &str) -> Self {
        self.when(text, Some(value).filter(|it| !it.is_empty()))
    }

    /// Appends a text that ends with `IN (`, the values, and the closing parenthesis, if there are any values.
    pub fn when_any<V: Into<Value>>(self, text: &'static str, any_of: impl IntoIterator<Item = V>) -> Self {
        let mut any_of = any_of.into_iter().peekable();
        if any_of.peek().is_none() { self } else { self.and(text).and(values(any_of)).and(")") }
    }

    /// Appends a parameter with its value.
    fn bind(mut self, value: impl Into<Value>) -> Self {
        self.values.push(value.into());
        self.text.to_mut().push('?');
        self
    }
}

impl<T: FromRow> Statement<T> {
    pub async fn all(self, db: &mut Connection) -> Result<Vec<T>, Error> {
        let read = |row| T::from_row(&row);
        match db.driver() {
            Driver::Sqlite(db) => {
                let (text, arguments) = dialect::for_sqlite(self.text, self.values)?;
                let rows = sqlx::query_with(text, arguments).fetch_all(db).await?;
                rows.into_iter().map(Row::from).map(read).collect()
            }
            Driver::Postgres(db, link) => {
                let statement = dialect::one_for_postgres(&self.text, self.values, link.protocol(db))?;
                let rows = Box::pin(link.run(db.fetch_all(statement))).await?;
                rows.into_iter().map(Row::from).map(read).collect()
            }
        }
    }

    pub async fn optional(self, db: &mut Connection) -> Result<Option<T>, Error> {
        let row = match db.driver() {
            Driver::Sqlite(db) => {
                let (text, arguments) = dialect::for_sqlite(self.text, self.values)?;
                sqlx::query_with(text, arguments).fetch_optional(db).await?.map(Row::from)
            }
            Driver::Postgres(db, link) => {
                let statement = dialect::one_for_postgres(&self.text, self.values, link.protocol(db))?;
                Box::pin(link.run(db.fetch_optional(statement))).await?.map(Row::from)
            }
        };
        row.map(|row| T::from_row(&row)).transpose()
    }

    /// The one row of a statement that always returns one.
    pub async fn one(self, db: &mut Connection) -> Result<T, Error> {
        self.optional(db).await?.ok_or_else(|| sqlx::Error::RowNotFound.into())
    }

    /// Streams the rows. Rows after the last one that is polled are not read.
    pub fn rows<'a>(self, db: &'a mut Connection) -> Rows<'a, T>
    where
        T: Send + 'a,
    {
        let read = |row| T::from_row(&row);
        let rows = match db.driver() {
            Driver::Sqlite(db) => dialect::for_sqlite(self.text, self.values).map(|(text, arguments)| {
                sqlx::query_with(text, arguments).fetch(db).map_ok(Row::from).boxed()
            }),
            Driver::Postgres(db, link) => {
                dialect::one_for_postgres(&self.text, self.values, link.protocol(db))
                    .map(|statement| link.stream(db.fetch(statement)).map_ok(Row::from).boxed())
            }
        };
        match rows {
            Ok(rows) => rows.map(move |row| read(row?)).boxed(),
            Err(error) => futures_util::stream::once(ready(Err(error))).boxed(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::{insert, sql};

    #[test]
    fn values_stand_where_they_are_meant_and_parts_follow_each_other() {
        let (table, of) = ("t", sql!("b = {1} AND c IN ({..values([2, 3])})"));
        let statement: Statement =
            sql!("SELECT a FROM {..table} WHERE {..of} AND d = {4}{..Statement::default()}");
        let statement = statement.when(" AND e = ", Some(5)).when(" AND f = ", None::<i64>);
        let statement =
            statement.when_nonempty(" AND g = ", "").when_any(" AND h IN (", [6, 7]).append_if(false, " x");
        let text = "SELECT a FROM t WHERE b = ? AND c IN (?, ?) AND d = ? AND e = ? AND h IN (?, ?)";
        assert_eq!((&*statement.text, statement.values), (text, (1..=7).map(Value::Int).collect()));
    }

    #[test]
    fn a_column_has_the_value_beside_it() {
        let b = "x";
        let insert: Statement = insert! { t: a = 1 + 1, b, c = vec![0_u8] };
        assert_eq!(insert.text, "INSERT INTO t (a, b, c) VALUES (?, ?, ?)");
        assert_eq!(insert.values, [Value::Int(2), Value::from("x"), Value::Bytes(vec![0])]);
        let columns = [("a", Value::Int(1)), ("b", Value::Null)];
        assert_eq!(Statement::set(columns.clone()).text, "a = ?, b = ?");
        assert_eq!(Statement::insert("t", columns.clone()).text, "INSERT INTO t (a, b) VALUES (?, ?)");
        let rows = Statement::insert_all("t", [columns.clone(), columns]);
        assert_eq!(rows.text, "INSERT INTO t (a, b) VALUES (?, ?), (?, ?)");
    }
}
