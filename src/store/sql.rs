//! Statements over the tables of the state: values, rows and the columns of types, and the connections that execute
//! them. Statements above name no database: what differs between the two is in [`dialect`].

mod columns;
mod connection;
pub(crate) mod dialect;
mod link;
mod literals;
mod macros;
mod record;
mod row;
mod statement;
mod value;

#[doc(hidden)]
pub use self::record::{columns_of, name_unreadable};
pub(crate) use self::{
    columns::{AsText, as_json},
    connection::Transaction,
    link::{LOCK_NOT_AVAILABLE, Link},
    record::row,
    row::AllColumns,
};
pub use self::{
    connection::{Connection, View, view},
    row::{FromRow, Row, Rows},
    statement::{Part, Statement, columns, columns_as, values},
    value::{FromValue, Json, Value},
};

// `#[macro_export]` puts macros at the root of the crate; here they stand beside the types that they use.
pub(crate) use crate::{record, words};
#[doc(hidden)]
pub use toolwire_sql as procedural;

pub use crate::{insert, select, sql};
