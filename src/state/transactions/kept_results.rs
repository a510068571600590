//! Kept results: inserted within the quotas, and deleted once they expire.

use std::time::SystemTime;

use crate::{
    Store,
    idempotency::Quota,
    kept_results::{KeptResult, NewKeptResult, RETENTION, rows},
    usage::{self, Counted},
};
use toolwire_db::{Durability, Error, Lane, StoreError, Tx};
use toolwire_tool::context::{CallId, UserId};

impl Store {
    /// Keeps the result of a call, unless it is kept already, and returns when the kept one expires. The oldest results
    /// are deleted where it exceeds the quota of its user or of all.
    pub async fn keep_result(
        &self,
        user: &UserId,
        call_id: CallId,
        result: &NewKeptResult<'_>,
    ) -> Result<SystemTime, StoreError> {
        let quota = self.kept_results_quota;
        // A result that is lost with the power is asked for again.
        transact!(self, Lane::User(user), Durability::Process, |tx| {
            tx.adds(result.text.len());
            let (now, bytes) = (tx.now(), rows::bytes_of(user, result));
            // First, since expired results count as long as they are stored.
            rows::delete_expired(tx, now).await?;
            // The call itself and a query of it may both keep its result.
            if let Some(kept) = rows::find(user, call_id, now).optional(tx).await? {
                return Ok(kept.expires_at);
            }
            free(tx, user, bytes, quota).await?;
            let expires_at = now + RETENTION;
            rows::insert(tx, (user, call_id), result, bytes, expires_at).await?;
            Ok(expires_at)
        })
    }

    /// The result of a user's call, if it is kept and has not expired.
    pub async fn kept_result(
        &self,
        user: &UserId,
        call_id: CallId,
    ) -> Result<Option<KeptResult>, StoreError> {
        self.fetch_optional(rows::find(user, call_id, self.now())).await
    }

    /// Deletes some of the results that have expired, and returns whether there may be more.
    pub async fn sweep_kept_results(&self) -> Result<bool, StoreError> {
        transact!(self, Lane::Platform, Durability::Process, |tx| {
            let now = tx.now();
            rows::delete_expired(tx, now).await
        })
    }
}

/// Deletes the oldest results until this many bytes fit, or none is left.
async fn free(tx: &mut Tx, user: &UserId, bytes: u64, quota: Quota) -> Result<(), Error> {
    loop {
        let (own, all) = usage::bytes(tx, Counted::KEPT_RESULTS, user.as_str()).await?;
        let deleted = if own.saturating_add(bytes) > quota.of_user {
            rows::delete_oldest_of(tx, user).await?
        } else if all.saturating_add(bytes) > quota.of_all {
            rows::delete_oldest(tx).await?
        } else {
            return Ok(());
        };
        if !deleted {
            return Ok(());
        }
    }
}
