//! Claims of equal writes: which one lends its `request_id`.

use std::{
    fmt,
    time::{Duration, SystemTime},
};

use crate::{
    Store,
    equal_writes::{
        Claim, EqualWrite, UNDELIVERED,
        rows::{self, Lender},
    },
    idempotency::Key,
};
use toolwire_contract::ErrorCode;
use toolwire_db::{Durability, Error, Lane, StoreError, Tx, scoped};
use toolwire_tool::context::RequestId;

impl Store {
    /// The `request_id` under which a write is to be made: that of an equal write whose outcome the user has not
    /// received, and otherwise the claim's own, which an equal write is lent from then on.
    pub async fn claim_equal_write(&self, claim: Claim<'_>) -> Result<RequestId, StoreError> {
        // The record of the write follows in the same file with `Durability::Power`, which makes this row durable too.
        let lent =
            self.transact(Lane::User(&claim.write.user), Durability::Process, |tx| scoped(lend(tx, claim)));
        match lent.await {
            // An equal write that was made before the disk was full is resumed.
            Err(error) if error.leaves_reads() => {
                let lender = self.fetch_optional(rows::find(claim.write)).await.ok().flatten();
                lender.and_then(|lender| lender.lent(&claim, self.now())).ok_or(error)
            }
            lent => lent,
        }
    }

    /// Stops lending the `request_id` of a write.
    pub async fn release_equal_write(
        &self,
        write: &EqualWrite,
        request_id: RequestId,
    ) -> Result<(), StoreError> {
        // If it is lost, the next equal write is answered with an outcome that is known already, and nothing is done.
        self.transact(Lane::User(&write.user), Durability::Process, |tx| {
            scoped(rows::delete(write, request_id).run(tx))
        })
        .await
    }

    /// Stops lending the `request_id` of a call whose outcome its user has received otherwise.
    pub async fn release_call(&self, key: &Key) -> Result<(), StoreError> {
        // Nearly all calls lend nothing, and a read excludes no writer.
        if self.fetch_one(rows::count_of_call(key)).await? == 0 {
            return Ok(());
        }
        self.transact(Lane::User(&key.user), Durability::Process, |tx| {
            scoped(rows::delete_of_call(key).run(tx))
        })
        .await
    }
}

async fn lend(tx: &mut Tx, claim: Claim<'_>) -> Result<RequestId, Error> {
    let now = tx.now();
    rows::delete_expired(now).run(tx).await?;
    let lender = rows::find(claim.write).optional(tx).await?;
    if let Some(lent) = lender.and_then(|lender| lender.lent(&claim, now)) {
        return Ok(lent);
    }
    rows::put(&claim, now).run(tx).await?;
    Ok(claim.request_id)
}

impl Lender {
    /// The `request_id` that it lends.
    fn lent(&self, claim: &Claim<'_>, now: SystemTime) -> Option<RequestId> {
        let lends = !(claim.is_delivered)(self.request_id) && self.lends(claim.longest, now);
        lends.then_some(self.request_id)
    }

    /// Whether the write is under way, waits for a person, or ended a short time ago.
    fn lends(&self, longest: Duration, now: SystemTime) -> bool {
        // Its user knows that nothing is to come.
        if self.code.as_deref() == Some(ErrorCode::Cancelled.into_str()) {
            return false;
        }
        // A write that has begun may run until the cap, and longer only in the record of a process that has ended.
        let runs_until = self.begun_at.filter(|_| self.is_under_way).map(|begun| begun + longest);
        let last = [self.begun_at, self.ended_at, self.open_until, runs_until].into_iter().flatten().max();
        now < last.unwrap_or(self.created_at).max(self.created_at) + UNDELIVERED
    }
}

impl fmt::Debug for Claim<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Claim").field("write", self.write).finish_non_exhaustive()
    }
}
