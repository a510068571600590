//! Structs that are read from rows by the names of columns.

use super::FromRow;
use crate::{Error, StoreError};

/// Reads a struct from a row: each field from the column of its name. `field: "column"` reads another column,
/// `field via Json` reads what a wrapper holds, `field: ..` reads a struct from columns of the same row, and
/// `field: [COLUMNS, read]` what a function reads from several. A row that
/// cannot be read is reported as one of the given name. A wrapper has one parameter and one field, and implements
/// [`FromValue`](super::FromValue).
#[macro_export]
macro_rules! record {
    ($type:ty, $what:literal, { $($field:ident $(: $column:tt)? $(via $wrapper:ident)?),+ $(,)? }) => {
        impl $crate::sql::FromRow for $type {
            fn columns() -> Vec<&'static str> {
                [$($crate::record!(@columns $field $(: $column)?)),+].concat()
            }

            fn from_row(row: &$crate::sql::Row) -> Result<Self, $crate::Error> {
                let read = || {
                    Ok(Self { $($field: $crate::record!(@read row $field $(: $column)? $(via $wrapper)?)),+ })
                };
                read().map_err(|error| $crate::sql::name_unreadable(error, $what))
            }
        }
    };
    (@columns $field:ident) => { vec![stringify!($field)] };
    (@columns $field:ident : ..) => { $crate::sql::columns_of(|it: &Self| &it.$field) };
    (@columns $field:ident : [$columns:expr, $read:expr]) => { $columns.to_vec() };
    (@columns $field:ident : $column:literal) => { vec![$column] };
    (@read $row:ident $field:ident : ..) => { $crate::sql::FromRow::from_row($row)? };
    (@read $row:ident $field:ident : [$columns:expr, $read:expr]) => { $read($row)? };
    (@read $row:ident $field:ident) => { $row.get(stringify!($field))? };
    (@read $row:ident $field:ident : $column:literal) => { $row.get($column)? };
    (@read $row:ident $field:ident via $wrapper:ident) => { $row.get::<$wrapper<_>>(stringify!($field))?.0 };
    (@read $row:ident $field:ident : $column:literal via $wrapper:ident) => { $row.get::<$wrapper<_>>($column)?.0 };
}

/// Columns with their values, for [`Statement::insert`](super::Statement::insert) and its siblings.
#[macro_export]
macro_rules! row {
    ($($name:ident = $value:expr),+ $(,)?) => { [$((stringify!($name), $crate::sql::Value::from($value))),+] };
}

/// The columns of a field's type, which the macro cannot name: it is inferred from the access to the field.
pub fn columns_of<S, T: FromRow>(_field: impl Fn(&S) -> &T) -> Vec<&'static str> {
    T::columns()
}

/// The error of a row that cannot be read, with what the row is.
pub fn name_unreadable(error: Error, what: &'static str) -> Error {
    match error {
        Error::Store(StoreError::Unreadable { cause, .. }) => StoreError::Unreadable { what, cause }.into(),
        error => error,
    }
}
