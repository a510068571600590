//! The in-memory tier of the result cache, bounded by bytes.

use std::{
    fmt,
    future::ready,
    time::{Duration, Instant, SystemTime},
};

use futures_util::future::BoxFuture;
use moka::{Expiry, sync::Cache};

use crate::results::{ResultKey, Results, StoredResult};
use toolwire_contract::Payload;
use toolwire_db::StoreError;

/// Default capacity in bytes.
const CAPACITY: u64 = 64 * 1024 * 1024;

/// Estimated size of a payload with its rendered forms, as a multiple of its encoded size: names of fields and digits
/// take more bytes.
const RENDERED: usize = 12;

/// Estimated bytes of an entry without its payload: key, provenance, and the cache's own overhead.
const OVERHEAD: usize = 512;

/// Caches results until they expire or are evicted.
pub struct MemoryResults(Cache<ResultKey, StoredResult<Payload>>);

impl MemoryResults {
    /// Creates a cache of approximately this capacity in bytes.
    pub fn new(bytes: u64) -> Self {
        let cache = Cache::builder().max_capacity(bytes).weigher(weight).expire_after(ExpireAtTtl).build();
        Self(cache)
    }

    /// The fresh result of a key, if there is one.
    pub fn find(&self, key: &ResultKey, now: SystemTime) -> Option<StoredResult<Payload>> {
        self.0.get(key).filter(|stored| stored.is_fresh(now))
    }

    pub fn keep(&self, key: &ResultKey, result: &StoredResult<Payload>) {
        self.0.insert(*key, result.clone());
    }
}

impl Default for MemoryResults {
    fn default() -> Self {
        Self::new(CAPACITY)
    }
}

impl Results for MemoryResults {
    fn get<'a>(
        &'a self,
        key: &'a ResultKey,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Option<StoredResult>, StoreError>> {
        Box::pin(ready(Ok(self.find(key, now).map(Into::into))))
    }

    fn put<'a>(
        &'a self,
        key: &'a ResultKey,
        result: &'a StoredResult<Payload>,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        self.keep(key, result);
        Box::pin(ready(Ok(())))
    }
}

impl fmt::Debug for MemoryResults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryResults").field("entries", &self.0.entry_count()).finish_non_exhaustive()
    }
}

fn weight(_key: &ResultKey, stored: &StoredResult<Payload>) -> u32 {
    let outcome = match &stored.outcome {
        Ok(payload) => payload.encoded_len().saturating_mul(RENDERED),
        Err(error) => error.message.len(),
    };
    outcome.saturating_add(OVERHEAD).try_into().unwrap_or(u32::MAX)
}

/// Only frees memory: reads check freshness themselves.
struct ExpireAtTtl;

impl Expiry<ResultKey, StoredResult<Payload>> for ExpireAtTtl {
    fn expire_after_create(
        &self,
        _: &ResultKey,
        stored: &StoredResult<Payload>,
        _: Instant,
    ) -> Option<Duration> {
        Some(stored.ttl)
    }

    fn expire_after_update(
        &self,
        _: &ResultKey,
        stored: &StoredResult<Payload>,
        _: Instant,
        _: Option<Duration>,
    ) -> Option<Duration> {
        Some(stored.ttl)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use toolwire_base::clock;
    use toolwire_contract::Provenance;

    fn stored(text: &str, ttl: Duration) -> StoredResult<Payload> {
        StoredResult {
            output_message: None,
            outcome: Ok(Payload::from_json(json!({"text": text}))),
            provenance: Provenance::default(),
            stored_at: clock::wall(),
            ttl,
        }
    }

    #[tokio::test]
    async fn a_result_answers_until_its_ttl_and_a_later_one_takes_its_place() {
        let (store, key) = (MemoryResults::default(), [1; 32]);
        let (first, second) = (stored("a", Duration::from_mins(1)), stored("b", Duration::from_secs(90)));
        store.put(&key, &first).await.expect("works");
        let almost = first.stored_at + Duration::from_millis(59_999);
        assert!(store.get(&key, almost).await.expect("works").is_some());
        assert!(store.get(&key, first.stored_at + first.ttl).await.expect("works").is_none());
        assert!(store.get(&[2; 32], almost).await.expect("works").is_none());

        store.put(&key, &second).await.expect("works");
        let found = store.get(&key, second.stored_at + first.ttl).await.expect("works").expect("fresh");
        assert_eq!(found.read(None).expect("live").outcome.expect("data").json()["text"], "b");
    }

    #[tokio::test]
    async fn results_take_no_more_room_than_they_are_given() {
        let store = MemoryResults::new(1024 * 1024);
        let large = stored(&"x".repeat(20_000), Duration::from_mins(1));
        for n in 0..100 {
            store.put(&[n; 32], &large).await.expect("works");
        }
        store.0.run_pending_tasks();
        assert!(store.0.weighted_size() <= 1024 * 1024);
        assert!(store.0.entry_count() > 0);
    }

    #[tokio::test]
    async fn a_clock_that_is_set_back_makes_nothing_older_than_new() {
        let result = stored("a", Duration::from_mins(1));
        assert_eq!(result.age(result.stored_at - Duration::from_hours(1)), Duration::ZERO);
    }
}
