//! The table `refusals`.

use std::time::SystemTime;

use super::{Criteria, RefusalRecord, pending::Counted};
use toolwire_db::sql::{Statement, insert, record, select, sql};

record!(RefusalRecord, "refusal", {
    sequence, first_at, last_at, count, reason, user: "user_id", known_by, peer, face, target,
});

pub(crate) fn insert(counted: &Counted) -> Statement {
    let Counted { kind, first, last, count } = counted;
    insert! {
        refusals: first_at = *first, last_at = *last, count = *count, reason = kind.reason, user_id = &kind.user,
        known_by = kind.known_by, peer = kind.peer.map(|peer| peer.to_string()), face = kind.face,
        target = &kind.target
    }
}

/// Records before a position, the newest first.
pub(crate) fn list(criteria: &Criteria, before: Option<u64>, limit: u32) -> Statement<RefusalRecord> {
    let (before, of) = (before.unwrap_or(u64::MAX), &criteria.filter);
    let filter = Statement::default()
        .when(" AND user_id = ", criteria.seen_by.as_ref())
        .when(" AND user_id = ", of.user.as_ref())
        .when(" AND last_at >= ", of.since)
        .when(" AND last_at < ", of.until)
        .when_any(" AND reason IN (", &of.reasons);
    let list = select!(RefusalRecord, "FROM refusals WHERE sequence < {before}{..filter}");
    list.and(sql!(" ORDER BY sequence DESC LIMIT {limit}"))
}

/// Deletes the records that ended until an instant, of the oldest `limit`.
pub(crate) fn delete_until(until: SystemTime, limit: u32) -> Statement {
    sql!(
        "DELETE FROM refusals WHERE last_at <= {until}
         AND sequence IN (SELECT sequence FROM refusals ORDER BY sequence LIMIT {limit})"
    )
}

/// Deletes all but the latest records.
pub(crate) fn keep_latest(count: u64) -> Statement {
    sql!("DELETE FROM refusals WHERE sequence <= (SELECT max(sequence) FROM refusals) - {count}")
}
