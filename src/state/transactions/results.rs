//! The persistent tier of the result cache, bounded by bytes. Stale results are evicted first, then the
//! oldest.

use std::time::SystemTime;

use futures_util::future::BoxFuture;

use crate::{
    Store,
    outcome::OutcomeColumns,
    results::{ResultKey, Results, StoredResult, rows},
    usage,
};
use toolwire_contract::Payload;
use toolwire_db::{Durability, Error, Lane, StoreError, Tx, scoped};

/// Estimated bytes of an entry without its columns of variable length.
const OVERHEAD: usize = 128;

/// Number of entries evicted by one statement.
const DELETED_AT_ONCE: u32 = 16;

impl Results for Store {
    fn now(&self) -> Option<SystemTime> {
        Some(self.database.now())
    }

    fn get<'a>(
        &'a self,
        key: &'a ResultKey,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Option<StoredResult>, StoreError>> {
        Box::pin(async move {
            let mut reader = self.reader().await?;
            self.explain(rows::find(&mut reader, key, now).await)
        })
    }

    fn put<'a>(
        &'a self,
        key: &'a ResultKey,
        result: &'a StoredResult<Payload>,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let outcome = OutcomeColumns::of(&result.outcome, &result.provenance);
            let bytes = u64::try_from(OVERHEAD + outcome.len()).unwrap_or(u64::MAX);
            let Some(others) = self.results_bytes.checked_sub(bytes) else { return Ok(()) };
            // A lost result is fetched again.
            self.transact(Lane::Platform, Durability::Process, |tx| {
                scoped(put(tx, key, result, &outcome, (bytes, others)))
            })
            .await
        })
    }
}

/// Inserts or replaces a result of `bytes` bytes, and evicts the oldest of the `others` beyond the bytes available to
/// them.
async fn put(
    tx: &mut Tx,
    key: &ResultKey,
    result: &StoredResult<Payload>,
    outcome: &OutcomeColumns,
    (bytes, others): (u64, u64),
) -> Result<(), Error> {
    tx.adds(outcome.len());
    // First, since expired results count as long as they are stored.
    rows::delete_expired(tx, key, result.stored_at).await?;
    while usage::result_bytes(tx).await? > others {
        if !rows::delete_oldest(tx, DELETED_AT_ONCE).await? {
            break;
        }
    }
    let time = (result.stored_at, result.ttl);
    rows::insert(key, result.output_message.as_deref(), outcome, time, bytes).run(tx).await
}
