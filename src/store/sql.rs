//! Statements over the tables of the state: values, rows and the columns of types. Beside `sqlite`, which opens the
//! file, the only code that converts to types of the database's driver: statements above do not name them.

mod columns;
mod macros;
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
// `#[macro_export]` puts macros at the root of the crate; here they stand beside the types that they use.
pub(crate) use crate::{record, words};
#[doc(hidden)]
pub use toolwire_sql as procedural;

pub use crate::{insert, select, sql};

/// A connection, within a transaction or not. A reader and a [`Tx`](crate::Tx) dereference to it.
pub type Connection = sqlx::SqliteConnection;

/// A read transaction, whose statements see one snapshot. It ends when it is dropped.
pub type View<'a> = sqlx::Transaction<'a, sqlx::Sqlite>;

/// Begins a read transaction, so that several statements see one snapshot.
pub async fn view(connection: &mut Connection) -> Result<View<'_>, Error> {
    Ok(sqlx::Connection::begin(connection).await?)
}
