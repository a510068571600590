//! Rows, and the types that are read from them.

use futures_util::stream::BoxStream;
use sqlx::{Column, Row as _, postgres::PgRow, sqlite::SqliteRow};

use super::{FromValue, Value, dialect};
use crate::Error;

/// Rows in the order of a statement, read from the database as they are polled.
pub type Rows<'a, T> = BoxStream<'a, Result<T, Error>>;

/// A row that a statement returned.
#[derive(Debug)]
pub struct Row(Driver);

#[derive(Debug)]
enum Driver {
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

impl From<SqliteRow> for Row {
    fn from(row: SqliteRow) -> Self {
        Self(Driver::Sqlite(row))
    }
}

impl From<PgRow> for Row {
    fn from(row: PgRow) -> Self {
        Self(Driver::Postgres(row))
    }
}

/// A type that is read from a row: by the names of columns or, for single values and tuples, by their order.
pub trait FromRow: Sized {
    /// The columns that it reads, which [`select!`](super::select) lists. Empty if it reads by order.
    fn columns() -> Vec<&'static str> {
        Vec::new()
    }

    fn from_row(row: &Row) -> Result<Self, Error>;
}

impl<T: FromValue> FromRow for T {
    fn from_row(row: &Row) -> Result<Self, Error> {
        row.at(0)
    }
}

/// The values of all columns, in order.
#[derive(Debug)]
pub struct AllColumns(pub Vec<Value>);

impl FromRow for AllColumns {
    fn from_row(row: &Row) -> Result<Self, Error> {
        (0..row.columns()).map(|index| row.value(index)).collect::<Result<_, _>>().map(Self)
    }
}

macro_rules! tuples {
    ($(($($type:ident $index:tt),+);)+) => {$(
        impl<$($type: FromValue),+> FromRow for ($($type,)+) {
            fn from_row(row: &Row) -> Result<Self, Error> {
                Ok(($(row.at::<$type>($index)?,)+))
            }
        }
    )+};
}

tuples! {
    (A 0, B 1);
    (A 0, B 1, C 2);
    (A 0, B 1, C 2, D 3);
}

impl Row {
    /// The value of the column of this name.
    pub fn get<T: FromValue>(&self, column: &'static str) -> Result<T, Error> {
        self.value(column).and_then(|value| T::from_value(value).ok_or_else(|| unreadable(column)))
    }

    /// The value of the column at this index.
    pub(super) fn at<T: FromValue>(&self, index: usize) -> Result<T, Error> {
        let value = self.value(index)?;
        T::from_value(value).ok_or_else(|| unreadable(self.name(index)))
    }

    fn value<I: sqlx::ColumnIndex<SqliteRow> + sqlx::ColumnIndex<PgRow>>(
        &self,
        column: I,
    ) -> Result<Value, Error> {
        match &self.0 {
            Driver::Sqlite(row) => dialect::of_sqlite(row.try_get_raw(column)?),
            Driver::Postgres(row) => dialect::of_postgres(row.try_get_raw(column)?),
        }
    }

    fn columns(&self) -> usize {
        match &self.0 {
            Driver::Sqlite(row) => row.len(),
            Driver::Postgres(row) => row.len(),
        }
    }

    fn name(&self, index: usize) -> &str {
        match &self.0 {
            Driver::Sqlite(row) => row.column(index).name(),
            Driver::Postgres(row) => row.column(index).name(),
        }
    }
}

fn unreadable(column: &str) -> Error {
    Error::unreadable("row", format!("its column {column}"))
}
