//! Statements: values, rows and the columns of types, and the connections that execute them. A statement is written
//! once for both databases: `dialect` has the rules by which each reads its own.

mod columns;
mod connection;
mod dialect;
mod link;
mod literals;
mod macros;
mod record;
mod row;
mod statement;
mod value;

#[doc(hidden)]
pub use self::{
    columns::AsText,
    connection::{Connection, View, view},
    record::{columns_of, name_unreadable},
    row::{AllColumns, FromRow, Row, Rows},
    statement::{Part, Statement, columns, columns_as, values},
    value::{FromValue, Json, Value},
};
pub(crate) use self::{
    connection::Transaction,
    link::{LOCK_NOT_AVAILABLE, Link},
};

#[doc(hidden)]
pub use toolwire_sql as procedural;

// `#[macro_export]` puts macros at the root of the crate; here they stand beside the types that they use.
pub use crate::{as_json, insert, record, row, select, sql, words};
