//! The table `reservations`. Instants are nanoseconds since the Unix epoch.

use crate::reservations::{BEHIND_QUOTAS, Nanos, QUOTA_PREFIX, Reservation};
use toolwire_db::sql::{Statement, insert, record, select, sql};
use toolwire_tool::context::UserId;

record!(Reservation, "reservation", { user: "user_id", at });

/// The reservations of a source from an instant on, in order of time.
pub(crate) fn list(source: &str, since: Nanos) -> Statement<Reservation> {
    select!(Reservation, "FROM reservations WHERE source = {source} AND at >= {since} ORDER BY at")
}

/// The number of reservations of a source from an instant on.
pub(crate) fn count(source: &str, since: Nanos) -> Statement<i64> {
    sql!("SELECT count(*) FROM reservations WHERE source = {source} AND at >= {since}")
}

/// The instant of the newest reservation but `nth` − 1, of those from an instant on.
pub(crate) fn nth_newest(source: &str, since: Nanos, nth: u32) -> Statement<Nanos> {
    let newer = nth.saturating_sub(1);
    sql!(
        "SELECT at FROM reservations WHERE source = {source} AND at >= {since} ORDER BY at DESC LIMIT 1 OFFSET {newer}"
    )
}

/// Inserts a reservation and returns its number.
pub(crate) fn insert(source: &str, user: &UserId, at: Nanos) -> Statement<i64> {
    insert! { reservations: source, user_id = user, at }.and(" RETURNING id")
}

pub(crate) fn delete(id: i64) -> Statement {
    sql!("DELETE FROM reservations WHERE id = {id}")
}

pub(crate) fn delete_before(source: &str, before: Nanos) -> Statement {
    sql!("DELETE FROM reservations WHERE source = {source} AND at < {before}")
}

/// Deletes what was counted of calls before an instant, of users who have called nothing since.
pub(crate) fn delete_quotas_before(before: Nanos) -> Statement {
    sql!(
        "DELETE FROM reservations WHERE source >= {QUOTA_PREFIX} AND source < {BEHIND_QUOTAS} AND at < {before}"
    )
}
