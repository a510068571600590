//! The macros of statements. They expand to paths that begin with `$crate`, so that a crate can use them that has this
//! one by another name, or through a crate that exports it.

/// A statement: `sql!("SELECT a FROM t WHERE b = {b}{..more}")`. The expression in braces is a value, which is bound as
/// a parameter, or, after two dots, a part of the statement. It must not contain quotation marks, since the text is one
/// string literal.
#[macro_export]
macro_rules! sql {
    ($($statement:tt)*) => { $crate::sql::procedural::sql!($crate::sql; $($statement)*) };
}

/// A statement that reads a type: `select!(Job, "FROM jobs WHERE user_id = {user}")`. `SELECT` and the columns of the
/// type are prepended.
#[macro_export]
macro_rules! select {
    ($($statement:tt)*) => { $crate::sql::procedural::select!($crate::sql; $($statement)*) };
}

/// A statement that inserts one row: `insert! { table: column = value, other = value }`. A column without a value takes
/// the variable of its name, as a field of a struct does.
#[macro_export]
macro_rules! insert {
    ($($row:tt)*) => { $crate::sql::procedural::insert!($crate::sql; $($row)*) };
}
