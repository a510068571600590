//! Quotas of confirmations: the number of pending ones, and the bytes of all. To free bytes, the arguments of ended
//! confirmations are deleted, the earliest first; open ones are never affected.

use std::time::UNIX_EPOCH;

use crate::{
    confirmations::{Admission, EVENT_RETENTION, MAX_PENDING, MAX_PENDING_PER_USER, rows},
    idempotency::{Bound, Quota},
    usage::{self, Counted},
};
use toolwire_contract::Crowding;
use toolwire_db::{Error, Tx};
use toolwire_tool::context::UserId;

/// Number of confirmations whose arguments are deleted at once: several, so that not every request deletes some.
const FREED_AT_ONCE: u32 = 8;

/// Returns the limit that another confirmation of a user would exceed; `None` if there is none.
pub(super) async fn check(tx: &mut Tx, user: &UserId, quota: Quota) -> Result<Option<Admission>, Error> {
    let (own, all) = rows::count_pending(user).one(tx).await?;
    let is_own = own >= MAX_PENDING_PER_USER;
    if is_own || all >= MAX_PENDING {
        let until = rows::earliest_expiry(is_own.then_some(user)).one(tx).await?.unwrap_or(UNIX_EPOCH);
        return Ok(Some(Admission::TooMany { crowding: Crowding::Pending, own: is_own, until }));
    }
    free_bytes(tx, user, quota).await
}

/// Deletes arguments of ended confirmations until another confirmation fits. Returns the limit that is reached if none
/// are left.
async fn free_bytes(tx: &mut Tx, user: &UserId, quota: Quota) -> Result<Option<Admission>, Error> {
    loop {
        let (own, all) = usage::bytes(tx, Counted::CONFIRMATIONS, user.as_str()).await?;
        let Some((bound, _)) = quota.full(own, all) else { return Ok(None) };
        let mut freed = rows::forget_arguments(tx, Some(user), None, FREED_AT_ONCE).await?;
        // A user below the fair share is not refused because of the confirmations of others.
        if freed == 0 && own < quota.fair_share() {
            freed = rows::forget_arguments(tx, None, None, FREED_AT_ONCE).await?;
        }
        if freed == 0 {
            let own = bound == Bound::User;
            let until = rows::next_release(tx, own.then_some(user), EVENT_RETENTION).await?;
            let until = until.unwrap_or(UNIX_EPOCH);
            return Ok(Some(Admission::TooMany { crowding: Crowding::Kept, own, until }));
        }
    }
}
