//! Counters of rows and bytes, updated in the transaction that changes the rows: per user and, if all users share a
//! quota, in total. A recount would cost each change more, the more rows there are.
//!
//! Every function that inserts or deletes such a row, or changes its bytes, calls [`account`]. `state check` compares
//! the counters with the rows.

use std::collections::BTreeMap;

use crate::dialect;
use toolwire_db::{
    Error,
    sql::{Connection, Statement, sql},
};

/// A kind of row that is counted per user, and the tables of its counters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counted {
    of_user: &'static str,
    /// The table of the total, of bytes if they are counted, otherwise of rows. It has one row and one column.
    of_all: &'static str,
    has_bytes: bool,
}

impl Counted {
    pub(crate) const CALLS: Self =
        Self { of_user: "idempotency_usage", of_all: "idempotency_total", has_bytes: true };
    pub(crate) const CONFIRMATIONS: Self =
        Self { of_user: "confirmation_usage", of_all: "confirmation_total", has_bytes: true };
    pub(crate) const KEPT_RESULTS: Self =
        Self { of_user: "kept_results_usage", of_all: "kept_results_total", has_bytes: true };
    pub(crate) const AUDIT: Self = Self { of_user: "audit_usage", of_all: "audit_total", has_bytes: false };
}

/// Adds rows and bytes to the counters of a user and to the total; negative numbers subtract.
pub(crate) async fn account(
    db: &mut Connection,
    counted: Counted,
    user: &str,
    rows: i64,
    bytes: i64,
) -> Result<(), Error> {
    count(counted, user, rows, bytes).run(db).await
}

/// Executes a statement, and [accounts](account) for it in the same round trip to the database.
pub(crate) async fn execute_and_account(
    db: &mut Connection,
    statement: Statement,
    counted: Counted,
    user: &str,
    rows: i64,
    bytes: i64,
) -> Result<(), Error> {
    statement.and("; ").and(count(counted, user, rows, bytes)).run(db).await
}

/// Subtracts deleted rows from the counters, given the user and the bytes of each.
pub(crate) async fn account_deleted(
    db: &mut Connection,
    counted: Counted,
    deleted: impl IntoIterator<Item = (String, i64)>,
) -> Result<(), Error> {
    let mut users: BTreeMap<String, (i64, i64)> = BTreeMap::new();
    for (user, bytes) in deleted {
        let user = users.entry(user).or_default();
        *user = (user.0 - 1, user.1 - bytes);
    }
    for (user, (rows, bytes)) in users {
        account(db, counted, &user, rows, bytes).await?;
    }
    Ok(())
}

/// The bytes of a user, and of all users together.
pub(crate) async fn bytes(db: &mut Connection, counted: Counted, user: &str) -> Result<(u64, u64), Error> {
    let bytes: Statement<(i64, i64)> = sql!(
        "SELECT coalesce((SELECT bytes FROM {..counted.of_user} WHERE user_id = {user}), 0),
                coalesce((SELECT bytes FROM {..counted.of_all}), 0)"
    );
    let (own, all) = bytes.one(db).await?;
    Ok((own.try_into().unwrap_or(0), all.try_into().unwrap_or(0)))
}

/// Adds to the bytes of cached results, which belong to no user; a negative number subtracts.
pub(crate) fn add_result_bytes(bytes: i64) -> Statement {
    sql!("UPDATE results_usage SET bytes = bytes + {bytes}")
}

/// The bytes of all cached results.
pub(crate) async fn result_bytes(db: &mut Connection) -> Result<u64, Error> {
    let bytes: Statement<i64> = sql!("SELECT bytes FROM results_usage");
    Ok(bytes.one(db).await?.try_into().unwrap_or(0))
}

/// The statements that account for a change, several in one.
fn count(counted: Counted, user: &str, rows: i64, bytes: i64) -> Statement {
    let Counted { of_user: table, of_all: all, has_bytes } = counted;
    let (column, more) = if has_bytes { ("bytes", bytes) } else { ("records", rows) };
    let of_all = sql!(
        "{..dialect::SQLITE_ONLY}UPDATE {..all} SET {..column} = {..column} + {more}{..dialect::END_SQLITE_ONLY}"
    );
    let of_user = match (has_bytes, rows, bytes) {
        (_, 0, 0) => return of_all,
        (true, 1.., _) => sql!(
            "INSERT INTO {..table} (user_id, records, bytes) VALUES ({user}, {rows}, {bytes}) ON CONFLICT (user_id)
             DO UPDATE SET records = {..table}.records + excluded.records, bytes = {..table}.bytes + excluded.bytes"
        ),
        (false, 1.., _) => sql!(
            "INSERT INTO {..table} (user_id, records) VALUES ({user}, {rows}) ON CONFLICT (user_id)
             DO UPDATE SET records = {..table}.records + excluded.records"
        ),
        _ => {
            let bytes = if has_bytes { sql!(", bytes = bytes + {bytes}") } else { Statement::default() };
            sql!("UPDATE {..table} SET records = records + {rows}{..bytes} WHERE user_id = {user}")
        }
    };
    let of_user = if rows < 0 {
        // Otherwise the table would have a row of every user who ever had one to count.
        of_user.and(sql!("; DELETE FROM {..table} WHERE user_id = {user} AND records = 0"))
    } else {
        of_user
    };
    of_user.and("; ").and(of_all)
}
