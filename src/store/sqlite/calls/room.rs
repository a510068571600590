//! Whether there is room for another record of a user: reads make room for others, writes do not.

use crate::{
    idempotency::{Begun, Bound, Room},
    sqlite::{Change, time::instant},
};
use toolwire_tool::context::UserId;

/// Those that nobody remembers any more, a few at a time: each call brings one and takes more away.
pub(super) const EXPIRE: &str = "DELETE FROM idempotency WHERE rowid IN \
                      (SELECT rowid FROM idempotency WHERE expires_at <= ? ORDER BY expires_at LIMIT 64)";

const USED: &str = "SELECT bytes FROM idempotency_usage WHERE user_id = ?";

/// What may go to make room: a read that is forgotten is read again.
const MAKE_ROOM: &str = "DELETE FROM idempotency WHERE rowid IN (SELECT rowid FROM idempotency \
                         WHERE user_id = ?1 AND (reads = 1 OR expires_at <= ?2) ORDER BY expires_at LIMIT 64)";

const TOTAL: &str = "SELECT bytes FROM idempotency_total";

const FULL_UNTIL: &str = "SELECT MIN(expires_at) FROM idempotency WHERE user_id = ?";

/// When so many bytes are forgotten of everybody's. At the earliest: of many records only the first are looked at.
const ALL_FULL_UNTIL: &str = "WITH first AS (SELECT expires_at, bytes FROM idempotency ORDER BY expires_at LIMIT 4096), \
     freed AS (SELECT expires_at, SUM(bytes) OVER (ORDER BY expires_at ROWS UNBOUNDED PRECEDING) AS bytes FROM first) \
     SELECT coalesce((SELECT MIN(expires_at) FROM freed WHERE bytes >= ?), (SELECT MAX(expires_at) FROM first), 0)";

/// When there is room again for a user who finds none; `None` if there is some.
pub(super) async fn full(
    change: &mut Change,
    user: &UserId,
    now: i64,
    room: Room,
) -> Result<Option<Begun>, sqlx::Error> {
    loop {
        let own = sqlx::query_scalar(USED).bind(user.as_str()).fetch_optional(&mut **change).await?;
        let total: i64 = sqlx::query_scalar(TOTAL).fetch_one(&mut **change).await?;
        let own = u64::try_from(own.unwrap_or(0_i64)).unwrap_or(0);
        let Some((bound, excess)) = room.full(own, u64::try_from(total).unwrap_or(0)) else {
            return Ok(None);
        };
        let made = sqlx::query(MAKE_ROOM).bind(user.as_str()).bind(now).execute(&mut **change).await?;
        let expired = sqlx::query(EXPIRE).bind(now).execute(&mut **change).await?;
        if made.rows_affected() + expired.rows_affected() > 0 {
            continue;
        }
        let until = match bound {
            Bound::User => sqlx::query_scalar(FULL_UNTIL).bind(user.as_str()),
            Bound::All => sqlx::query_scalar(ALL_FULL_UNTIL).bind(i64::try_from(excess).unwrap_or(i64::MAX)),
        };
        let until = instant(until.fetch_one(&mut **change).await?);
        return Ok(Some(Begun::Full { until, bound }));
    }
}
