//! Statements with the values of their parameters.

use futures_util::{StreamExt, future::ready};
use sqlx::{Arguments, AssertSqlSafe, sqlite::SqliteArguments};

use super::{Connection, FromRow, Row, Rows, Value};
use crate::Error;

/// A statement and the values of its parameters. [`sql!`](crate::sql!) writes one whose text is fixed; what depends on
/// the request is added by [`push`](Self::push) and [`bind`](Self::bind).
#[derive(Clone, Debug)]
pub struct Statement {
    text: String,
    values: Vec<Value>,
}

/// A statement of texts and values in turn, the first a text: `sql!("SELECT a FROM t WHERE b = ", b, " AND c = ", c)`.
/// Texts are constants, so no value can become part of one.
#[macro_export]
macro_rules! sql {
    (@ $statement:ident) => {};
    (@ $statement:ident $text:expr) => { $statement.push($text); };
    (@ $statement:ident $text:expr, $value:expr $(, $($rest:tt)*)?) => {
        $statement.push($text);
        $statement.bind($value);
        $crate::sql!(@ $statement $($($rest)*)?);
    };
    ($($pieces:tt)+) => {{
        let mut statement = $crate::sql::Statement::default();
        $crate::sql!(@ statement $($pieces)+);
        statement
    }};
}

/// The columns of a type, followed by texts and values in turn: `select!(Job, "FROM jobs WHERE user_id = ", user)`.
#[macro_export]
macro_rules! select {
    ($type:ty, $text:expr $(, $value:expr $(, $($rest:tt)*)?)?) => {{
        let mut statement = $crate::sql::Statement::select::<$type>($text);
        $(statement.bind($value); $($crate::sql!(@ statement $($rest)*);)?)?
        statement
    }};
}

impl Default for Statement {
    fn default() -> Self {
        Self { text: String::with_capacity(128), values: Vec::new() }
    }
}

impl Statement {
    /// `SELECT` the columns of a type, followed by a text such as `FROM …`.
    pub fn select<T: FromRow>(rest: &'static str) -> Self {
        Self::select_columns(T::columns(), "", rest)
    }

    /// As [`select`](Self::select), of a table with an alias; `prefix` is the alias with its full stop.
    pub fn select_of<T: FromRow>(prefix: &'static str, rest: &'static str) -> Self {
        Self::select_columns(T::columns(), prefix, rest)
    }

    /// As [`select`](Self::select), but a column of text is left where it is and read as empty.
    pub fn select_without<T: FromRow>(column: &'static str, empty: &'static str, rest: &'static str) -> Self {
        Self::select_with::<T>(column, empty, rest)
    }

    /// As [`select`](Self::select), but one column is the value of an expression, which is named as the column.
    pub fn select_with<T: FromRow>(
        column: &'static str,
        expression: &'static str,
        rest: &'static str,
    ) -> Self {
        let columns = T::columns().into_iter().map(|it| if it == column { expression } else { it });
        Self::select_columns(columns, "", rest)
    }

    fn select_columns(
        columns: impl IntoIterator<Item = &'static str>,
        prefix: &'static str,
        rest: &'static str,
    ) -> Self {
        let mut statement = Self::default();
        statement.push("SELECT ");
        for (index, column) in columns.into_iter().enumerate() {
            statement.push(if index == 0 { "" } else { ", " }).push(prefix).push(column);
        }
        statement.push(" ").push(rest);
        statement
    }

    /// `INSERT` one row into a table, with the values of its columns.
    pub fn insert<const N: usize>(table: &'static str, columns: [(&'static str, Value); N]) -> Self {
        Self::insert_all(table, [columns])
    }

    /// `INSERT` rows into a table, at least one, each with the values of the same columns in the same order.
    pub fn insert_all<const N: usize>(
        table: &'static str,
        rows: impl IntoIterator<Item = [(&'static str, Value); N]>,
    ) -> Self {
        let mut statement = Self::default();
        statement.push("INSERT INTO ").push(table);
        for (index, row) in rows.into_iter().enumerate() {
            if index == 0 {
                statement.push(" (");
                for (index, (name, _)) in row.iter().enumerate() {
                    statement.push(if index == 0 { "" } else { ", " }).push(name);
                }
                statement.push(") VALUES ");
            } else {
                statement.push(", ");
            }
            statement.bind_list(row.into_iter().map(|(_, value)| value));
        }
        statement
    }

    pub fn push(&mut self, text: &'static str) -> &mut Self {
        self.text.push_str(text);
        self
    }

    /// Adds a parameter with its value.
    pub fn bind(&mut self, value: impl Into<Value>) -> &mut Self {
        self.values.push(value.into());
        self.text.push('$');
        self.text.push_str(&self.values.len().to_string());
        self
    }

    /// Begins another statement, which is executed next in the same trip to the database. Parameters are numbered on.
    pub fn then(&mut self, text: &'static str) -> &mut Self {
        self.push(if self.text.is_empty() { "" } else { "; " }).push(text)
    }

    /// Adds `SELECT` and the columns of a type, each after `prefix`, the alias of its table with its full stop. Some
    /// are computed: by the name of the column, the expression and its alias, which is the name.
    pub fn push_select<T: FromRow>(
        &mut self,
        prefix: &'static str,
        computed: &[(&'static str, &'static str)],
    ) -> &mut Self {
        for (index, column) in T::columns().into_iter().enumerate() {
            self.push(if index == 0 { "SELECT " } else { ", " });
            match computed.iter().find(|(name, _)| *name == column) {
                Some((_, expression)) => self.push(expression),
                None => self.push(prefix).push(column),
            };
        }
        self
    }

    /// Adds a list of parameters, as `IN` takes one.
    pub fn bind_list<V: Into<Value>>(&mut self, values: impl IntoIterator<Item = V>) -> &mut Self {
        self.push("(");
        for (index, value) in values.into_iter().enumerate() {
            self.push(if index == 0 { "" } else { ", " }).bind(value);
        }
        self.push(")")
    }

    /// Executes it and returns how many rows it changed.
    pub async fn execute(self, connection: &mut Connection) -> Result<u64, Error> {
        let (text, arguments) = self.prepare()?;
        Ok(sqlx::query_with(text, arguments).execute(connection).await?.rows_affected())
    }

    pub async fn all<T: FromRow>(self, connection: &mut Connection) -> Result<Vec<T>, Error> {
        let (text, arguments) = self.prepare()?;
        let rows = sqlx::query_with(text, arguments).fetch_all(connection).await?;
        rows.into_iter().map(|row| T::from_row(&Row(row))).collect()
    }

    pub async fn optional<T: FromRow>(self, connection: &mut Connection) -> Result<Option<T>, Error> {
        let (text, arguments) = self.prepare()?;
        let row = sqlx::query_with(text, arguments).fetch_optional(connection).await?;
        row.map(|row| T::from_row(&Row(row))).transpose()
    }

    /// The one row of a statement that always returns one.
    pub async fn one<T: FromRow>(self, connection: &mut Connection) -> Result<T, Error> {
        let (text, arguments) = self.prepare()?;
        let row = sqlx::query_with(text, arguments).fetch_one(connection).await?;
        T::from_row(&Row(row))
    }

    /// The rows as they come. A reader that stops early reads no more of them.
    pub fn rows<'a, T: FromRow + Send + 'a>(self, connection: &'a mut Connection) -> Rows<'a, T> {
        match self.prepare() {
            Ok((text, arguments)) => {
                sqlx::query_with(text, arguments).fetch(connection).map(|row| T::from_row(&Row(row?))).boxed()
            }
            Err(error) => futures_util::stream::once(ready(Err(error))).boxed(),
        }
    }

    fn prepare(self) -> Result<(AssertSqlSafe<String>, SqliteArguments), Error> {
        let mut arguments = SqliteArguments::default();
        arguments.reserve(self.values.len(), 0);
        for value in self.values {
            let added = match value {
                Value::Null => arguments.add(None::<i64>),
                Value::Int(value) => arguments.add(value),
                Value::Real(value) => arguments.add(value),
                Value::Text(value) => arguments.add(value),
                Value::Bytes(value) => arguments.add(value),
            };
            added.map_err(sqlx::Error::Encode)?;
        }
        Ok((AssertSqlSafe(self.text), arguments))
    }
}
