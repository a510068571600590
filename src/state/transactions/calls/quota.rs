//! The quota of call records. Records of reads are deleted to free space, those of writes are not.

use std::time::SystemTime;

use crate::{
    calls::rows,
    idempotency::{Begun, Bound, Quota},
    usage::{self, Counted},
};
use toolwire_db::{Error, Tx};
use toolwire_tool::context::UserId;

/// Deletes records until another one fits. If none is left that may be deleted, returns the bound that is reached, and
/// the instant at which bytes are released.
pub(super) async fn free(
    tx: &mut Tx,
    user: &UserId,
    now: SystemTime,
    quota: Quota,
) -> Result<Option<Begun>, Error> {
    loop {
        let (own, all) = usage::bytes(tx, Counted::CALLS, user.as_str()).await?;
        let Some((bound, excess)) = quota.full(own, all) else { return Ok(None) };
        // Both, hence no short circuit: expired records of other users count against the bound of all.
        if rows::delete_reads(tx, user).await? | rows::delete_expired(tx, now).await? {
            continue;
        }
        let until = match bound {
            Bound::User => rows::next_end(user).one(tx).await?,
            Bound::All => rows::free_at(excess).one(tx).await?,
        };
        return Ok(Some(Begun::Full { until, bound }));
    }
}
