//! Cached results in memory: bounded by bytes, the least recently used goes first.

use std::{
    future::ready,
    sync::Arc,
    time::{Duration, SystemTime},
};

use futures_util::future::BoxFuture;
use moka::{Expiry, policy::EvictionPolicy, sync::Cache};

use crate::{
    contract::Payload,
    store::{
        StoreError,
        results::{MAX_BYTES, ResultKey, Results, StoredResult},
    },
};

/// What an entry costs beside its data: key, provenance, the cache's own books.
const OVERHEAD: usize = 512;

/// Keeps results until the process ends.
#[derive(Debug)]
pub struct MemoryResults(Cache<ResultKey, Arc<StoredResult>>);

/// Frees the memory of what is no longer fresh.
struct FreshFor;

impl Default for MemoryResults {
    fn default() -> Self {
        Self::bounded(MAX_BYTES)
    }
}

impl MemoryResults {
    /// Keeps at most so many bytes.
    pub fn bounded(bytes: u64) -> Self {
        let cache = Cache::builder()
            .max_capacity(bytes)
            .weigher(|_: &ResultKey, result: &Arc<StoredResult>| {
                u32::try_from(weight(result)).unwrap_or(u32::MAX)
            })
            // The default policy may turn away what is new in favour of what is often read: it was just paid for.
            .eviction_policy(EvictionPolicy::lru())
            .expire_after(FreshFor);
        Self(cache.build())
    }
}

fn weight(result: &StoredResult) -> usize {
    OVERHEAD + result.outcome.as_ref().map_or_else(|error| error.message.len(), Payload::encoded_len)
}

impl Expiry<ResultKey, Arc<StoredResult>> for FreshFor {
    fn expire_after_create(
        &self,
        _key: &ResultKey,
        result: &Arc<StoredResult>,
        _created_at: std::time::Instant,
    ) -> Option<Duration> {
        Some(result.ttl)
    }

    fn expire_after_update(
        &self,
        _key: &ResultKey,
        result: &Arc<StoredResult>,
        _updated_at: std::time::Instant,
        _left: Option<Duration>,
    ) -> Option<Duration> {
        Some(result.ttl)
    }
}

impl Results for MemoryResults {
    fn get<'a>(
        &'a self,
        key: &'a ResultKey,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Option<StoredResult>, StoreError>> {
        let found = self.0.get(key).filter(|result| result.is_fresh(now));
        Box::pin(ready(Ok(found.map(Arc::unwrap_or_clone))))
    }

    fn put<'a>(
        &'a self,
        key: &'a ResultKey,
        result: &'a StoredResult,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        self.0.insert(*key, Arc::new(result.clone()));
        Box::pin(ready(Ok(())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{clock, contract::Provenance};

    #[tokio::test]
    async fn the_least_recently_used_make_room() {
        let results = MemoryResults::bounded(10_000);
        let result = StoredResult {
            output_message: None,
            outcome: Ok(Payload::from_json("x".repeat(2_000).into())),
            provenance: Provenance::default(),
            stored_at: clock::wall(),
            ttl: Duration::from_hours(1),
        };
        for number in 0..20 {
            results.put(&[number; 32], &result).await.unwrap();
            results.0.run_pending_tasks();
        }
        assert!(results.0.weighted_size() <= 10_000, "{}", results.0.weighted_size());
        assert!(results.get(&[19; 32], clock::wall()).await.unwrap().is_some());
        assert!(results.get(&[0; 32], clock::wall()).await.unwrap().is_none());
    }
}
