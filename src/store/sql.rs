//! Statements over the tables of the state: values, rows and the columns of types. The only code that knows the types
//! of the database's driver; everything above is written for any engine.

mod columns;
mod record;
mod row;
mod statement;
mod value;

#[doc(hidden)]
pub use self::record::{columns_of, name_unreadable};
pub(crate) use self::{
    columns::{AsText, as_json},
    record::row,
};
pub use self::{
    row::{FromRow, Row, Rows},
    statement::{Part, Statement, columns, columns_as, values},
    value::{FromValue, Json, Value},
};

use crate::Error;
// Macros are at the root of the crate; the rows of the store import them from here with the types that they use.
pub(crate) use crate::{record, words};
pub use toolwire_sql::{insert, select, sql};

/// A connection, within a transaction or not.
pub type Connection = sqlx::SqliteConnection;

/// A transaction that only reads. It ends when it is dropped.
pub type View<'a> = sqlx::Transaction<'a, sqlx::Sqlite>;

/// Begins a transaction that only reads, so that several statements see one state.
pub async fn view(connection: &mut Connection) -> Result<View<'_>, Error> {
    Ok(sqlx::Connection::begin(connection).await?)
}
