//! Whether there is room for another confirmation: few enough are pending, and what is kept of all of them takes few
//! enough bytes. To make room, the arguments of what ended are forgotten, the earliest first; never of what is open.

use super::super::{Change, Failed, time::instant};
use crate::{
    confirmations::{EVENTS_KEPT, MAX_PENDING, MAX_PENDING_OF_USER, Opened},
    idempotency::{Bound, Key, Room},
    sqlite::time::length,
};
use toolwire_contract::Crowding;

const PENDING: &str = "SELECT (SELECT count(*) FROM confirmations WHERE state = 'pending' AND user_id = ?), \
                       (SELECT count(*) FROM confirmations WHERE state = 'pending')";

const OLDEST: &str = "SELECT coalesce(MIN(expires_at), 0) FROM confirmations \
                      WHERE state = 'pending' AND (user_id = ?1 OR ?2)";

const USED: &str = "SELECT coalesce((SELECT bytes FROM confirmation_usage WHERE user_id = ?), 0), \
                    (SELECT bytes FROM confirmation_total)";

const FORGET_OF_USER: &str = "UPDATE confirmations SET arguments = NULL WHERE rowid IN \
    (SELECT rowid FROM confirmations WHERE user_id = ? AND ended_at IS NOT NULL AND arguments IS NOT NULL \
     ORDER BY ended_at LIMIT 8)";

const FORGET_OF_ALL: &str = "UPDATE confirmations SET arguments = NULL WHERE rowid IN \
    (SELECT rowid FROM confirmations WHERE ended_at IS NOT NULL AND arguments IS NOT NULL ORDER BY ended_at LIMIT 8)";

/// When the arguments of an open one can be forgotten, or else the earliest one as a whole.
const ROOM_AT: &str = "SELECT coalesce(\
    (SELECT MIN(expires_at) FROM confirmations WHERE state IN ('pending', 'approved') AND (user_id = ?1 OR ?2)), \
    (SELECT MIN(ended_at) + ?3 FROM confirmations WHERE ended_at IS NOT NULL AND (user_id = ?1 OR ?2)), 0)";

/// What leaves no room for another confirmation of this user; `None` if there is some.
pub(super) async fn too_many(change: &mut Change, key: &Key, room: Room) -> Result<Option<Opened>, Failed> {
    let user = key.user.as_str();
    let (own, all): (i64, i64) = sqlx::query_as(PENDING).bind(user).fetch_one(&mut **change).await?;
    let own_full = own >= i64::from(MAX_PENDING_OF_USER);
    if own_full || all >= i64::from(MAX_PENDING) {
        let until = sqlx::query_scalar(OLDEST).bind(user).bind(!own_full).fetch_one(&mut **change).await?;
        return Ok(Some(Opened::TooMany {
            crowding: Crowding::Pending,
            own: own_full,
            until: instant(until),
        }));
    }
    make_room(change, user, room).await
}

async fn make_room(change: &mut Change, user: &str, room: Room) -> Result<Option<Opened>, Failed> {
    loop {
        let (own, all): (i64, i64) = sqlx::query_as(USED).bind(user).fetch_one(&mut **change).await?;
        let (own, all) = (u64::try_from(own).unwrap_or(0), u64::try_from(all).unwrap_or(0));
        let Some((bound, _)) = room.full(own, all) else { return Ok(None) };
        let mut forgotten =
            sqlx::query(FORGET_OF_USER).bind(user).execute(&mut **change).await?.rows_affected();
        // Whoever has less than a fair share is not turned away for what others keep.
        if forgotten == 0 && own < room.fair_share() {
            forgotten = sqlx::query(FORGET_OF_ALL).execute(&mut **change).await?.rows_affected();
        }
        if forgotten == 0 {
            let own = bound == Bound::User;
            let at = sqlx::query_scalar(ROOM_AT).bind(user).bind(!own).bind(length(EVENTS_KEPT));
            let until = instant(at.fetch_one(&mut **change).await?);
            return Ok(Some(Opened::TooMany { crowding: Crowding::Kept, own, until }));
        }
    }
}
