//! Counts of rows and bytes, kept beside the rows in the same change: of each user and, where all users share a bound,
//! of all. Counting the rows themselves would cost each change more, the more rows there are.
//!
//! Every function that inserts or deletes such a row, or changes its bytes, calls [`account`]. `state check` compares
//! the counts with the rows.

use std::collections::BTreeMap;

use crate::{
    Error, sql,
    sql::{Connection, Scalar, Statement},
};

/// Rows that are counted by user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    /// Rows of `idempotency`.
    Calls,
    Confirmations,
    /// Audit records, of which only the rows are counted.
    Audit,
}

impl Counted {
    /// The table of the counts of each user, and its column of rows.
    const fn of_user(self) -> (&'static str, &'static str) {
        match self {
            Self::Calls => ("idempotency_usage", "records"),
            Self::Confirmations => ("confirmation_usage", "records"),
            Self::Audit => ("audit_usage", "records"),
        }
    }

    const fn has_bytes(self) -> bool {
        !matches!(self, Self::Audit)
    }

    /// The table of the count of all users. It has one row and one column.
    const fn of_all(self) -> &'static str {
        match self {
            Self::Calls => "idempotency_total",
            Self::Confirmations => "confirmation_total",
            Self::Audit => "audit_total",
        }
    }
}

/// Adds rows and bytes to the counts of a user and of all; negative numbers take them away.
pub(crate) async fn account(
    connection: &mut Connection,
    counted: Counted,
    user: &str,
    rows: i64,
    bytes: i64,
) -> Result<(), Error> {
    execute_and_account(connection, Statement::default(), counted, user, rows, bytes).await
}

/// Executes a statement, and [accounts](account) for it in the same trip to the database.
pub(crate) async fn execute_and_account(
    connection: &mut Connection,
    mut statement: Statement,
    counted: Counted,
    user: &str,
    rows: i64,
    bytes: i64,
) -> Result<(), Error> {
    if rows > 0 {
        add(&mut statement, counted, user, rows, bytes);
    } else if rows < 0 || bytes != 0 {
        change(&mut statement, counted, user, rows, bytes);
    }
    let (column, more) = if counted.has_bytes() { ("bytes", bytes) } else { ("records", rows) };
    statement.then("UPDATE ").push(counted.of_all()).push(" SET ").push(column).push(" = ").push(column);
    statement.push(" + ").bind(more);
    statement.execute(connection).await?;
    Ok(())
}

/// Takes deleted rows away from the counts: the user of each, and its bytes.
pub(crate) async fn account_deleted(
    connection: &mut Connection,
    counted: Counted,
    deleted: impl IntoIterator<Item = (String, i64)>,
) -> Result<(), Error> {
    let mut users: BTreeMap<String, (i64, i64)> = BTreeMap::new();
    for (user, bytes) in deleted {
        let user = users.entry(user).or_default();
        *user = (user.0 - 1, user.1 - bytes);
    }
    for (user, (rows, bytes)) in users {
        account(connection, counted, &user, rows, bytes).await?;
    }
    Ok(())
}

/// The bytes of a user, and of all users together.
pub(crate) async fn bytes(
    connection: &mut Connection,
    counted: Counted,
    user: &str,
) -> Result<(u64, u64), Error> {
    let (table, _) = counted.of_user();
    let mut statement = sql!("SELECT coalesce((SELECT bytes FROM ");
    statement.push(table).push(" WHERE user_id = ").bind(user).push("), 0), ");
    statement.push("coalesce((SELECT bytes FROM ").push(counted.of_all()).push("), 0)");
    let (own, all): (i64, i64) = statement.one(connection).await?;
    Ok((own.try_into().unwrap_or(0), all.try_into().unwrap_or(0)))
}

/// Executes a statement, and adds to the bytes of cached results, which belong to no user, in the same trip to the
/// database; a negative number takes them away.
pub(crate) async fn execute_and_account_results(
    connection: &mut Connection,
    mut statement: Statement,
    bytes: i64,
) -> Result<(), Error> {
    statement.then("UPDATE results_usage SET bytes = bytes + ").bind(bytes);
    statement.execute(connection).await?;
    Ok(())
}

/// The bytes of all cached results.
pub(crate) async fn result_bytes(connection: &mut Connection) -> Result<u64, Error> {
    let Scalar(bytes): Scalar<i64> = sql!("SELECT bytes FROM results_usage").one(connection).await?;
    Ok(bytes.try_into().unwrap_or(0))
}

fn add(statement: &mut Statement, counted: Counted, user: &str, rows: i64, bytes: i64) {
    let (table, column) = counted.of_user();
    statement.then("INSERT INTO ").push(table).push(" (user_id, ").push(column);
    statement.push(if counted.has_bytes() { ", bytes" } else { "" });
    statement.push(") VALUES (").bind(user).push(", ").bind(rows);
    if counted.has_bytes() {
        statement.push(", ").bind(bytes);
    }
    statement.push(") ON CONFLICT (user_id) DO UPDATE SET ");
    statement.push(column).push(" = ").push(table).push(".").push(column).push(" + excluded.").push(column);
    if counted.has_bytes() {
        statement.push(", bytes = ").push(table).push(".bytes + excluded.bytes");
    }
}

fn change(statement: &mut Statement, counted: Counted, user: &str, rows: i64, bytes: i64) {
    let (table, column) = counted.of_user();
    statement.then("UPDATE ").push(table).push(" SET ");
    statement.push(column).push(" = ").push(column).push(" + ").bind(rows);
    if counted.has_bytes() {
        statement.push(", bytes = bytes + ").bind(bytes);
    }
    statement.push(" WHERE user_id = ").bind(user);
    if rows < 0 {
        // Otherwise every user who ever had a row would keep one here.
        statement.then("DELETE FROM ").push(table).push(" WHERE user_id = ").bind(user);
        statement.push(" AND ").push(column).push(" = 0");
    }
}
