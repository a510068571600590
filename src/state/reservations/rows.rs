//! The table `reservations`. Instants are nanoseconds since the Unix epoch.

use std::cmp::Reverse;

use crate::reservations::{
    BEHIND_QUOTAS, LimitOfEach, Nanos, QUOTA_PREFIX, Reservation, SHARE, Use, UsePlace,
};
use toolwire_db::sql::{Statement, insert, record, select, sql};
use toolwire_tool::context::UserId;

record!(Reservation, "reservation", { user: "user_id", at });
record!(Use, "use of a limit", { user: "user_id", name, count: "taken", share, first: "first_at" });

/// The reservations of a source from an instant on, in order of time.
pub(crate) fn list(source: &str, since: Nanos) -> Statement<Reservation> {
    select!(Reservation, "FROM reservations WHERE source = {source} AND at >= {since} ORDER BY at")
}

/// What is reserved under these limits, at least one, by the users or by one of them, behind a place.
pub(crate) fn list_uses(
    limits: &[LimitOfEach],
    of: Option<&UserId>,
    now: Nanos,
    behind: Option<&UsePlace>,
    at_most: u32,
) -> Statement<Use> {
    let uses = limits.iter().enumerate().fold(Statement::default(), |uses: Statement, (index, limit)| {
        uses.append_if(index > 0, " UNION ALL ").and(uses_of(limit, of, now))
    });
    let list = select!(Use, "FROM ({..uses}) AS uses");
    let list = match behind {
        Some(UsePlace { share: Reverse(share), user, name }) => list
            .and(sql!(" WHERE share < {share} OR (share = {share} AND (user_id, name) > ({user}, {name}))")),
        None => list,
    };
    list.and(sql!(" ORDER BY share DESC, user_id, name LIMIT {at_most}"))
}

/// What is reserved under a limit, a row for each name. The index alone is read.
fn uses_of(limit: &LimitOfEach, of: Option<&UserId>, now: Nanos) -> Statement {
    let LimitOfEach { group, most, window } = limit;
    let (begin, end, since) = (format!("{group}:"), format!("{group};"), now.saturating_sub(*window));
    let (user_at, others) = (begin.len() + 1, most.saturating_sub(1));
    let user = Statement::default().when(" AND source = ", of.map(|user| limit.name_of(user)));
    // Of more than the limit allows, as after a change of it, those that are too many must leave, too.
    sql!(
        "SELECT source AS name, substr(source, CAST({user_at} AS INTEGER)) AS user_id, count(*) AS taken,
         count(*) * {SHARE} / {most} AS share,
         CASE WHEN count(*) <= {most} THEN min(at) ELSE (
             SELECT newer.at FROM reservations AS newer WHERE newer.source = reservations.source
             AND newer.at >= {since} ORDER BY newer.at DESC LIMIT 1 OFFSET {others}
         ) END AS first_at
         FROM reservations WHERE source >= {begin} AND source < {end} AND at >= {since}{..user} GROUP BY source"
    )
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
