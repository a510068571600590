//! Idempotency records in memory: bounded, and gone with the process.

use std::{
    collections::{HashMap, VecDeque},
    future::ready,
    sync::{Mutex, MutexGuard, PoisonError},
};

use futures_util::future::BoxFuture;
use tokio::time::Instant;

use super::idempotency::{ArgumentsDigest, Begun, Idempotency, Key, RETENTION};
use crate::{clock, contract::ToolResult};

/// How many calls are remembered. Beyond it new ones are refused rather than old ones forgotten: forgetting could
/// repeat a write.
const CAPACITY: usize = 100_000;

/// Remembers calls until the process ends.
#[derive(Debug, Default)]
pub struct MemoryIdempotency(Mutex<Records>);

#[derive(Debug, Default)]
struct Records {
    by_key: HashMap<Key, Record>,
    /// Oldest first.
    order: VecDeque<(Instant, Key)>,
}

#[derive(Debug)]
struct Record {
    begun: Instant,
    digest: ArgumentsDigest,
    result: Option<ToolResult>,
}

impl MemoryIdempotency {
    fn records(&self) -> MutexGuard<'_, Records> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Idempotency for MemoryIdempotency {
    fn begin<'a>(&'a self, key: &'a Key, digest: ArgumentsDigest) -> BoxFuture<'a, Begun> {
        Box::pin(ready(self.records().begin(key, digest, clock::now())))
    }

    fn end<'a>(&'a self, key: &'a Key, result: &'a ToolResult) -> BoxFuture<'a, ()> {
        if let Some(record) = self.records().by_key.get_mut(key) {
            record.result = Some(result.clone());
        }
        Box::pin(ready(()))
    }

    fn forget<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, ()> {
        self.records().by_key.remove(key);
        Box::pin(ready(()))
    }
}

impl Records {
    fn begin(&mut self, key: &Key, digest: ArgumentsDigest, now: Instant) -> Begun {
        self.expire(now);
        match self.by_key.get(key) {
            Some(record) if record.digest != digest => return Begun::Conflict,
            Some(Record { result: Some(result), .. }) => return Begun::Ended(Box::new(result.clone())),
            Some(_) => return Begun::Unfinished,
            None if self.by_key.len() >= CAPACITY => return Begun::Full,
            None => {}
        }
        self.by_key.insert(key.clone(), Record { begun: now, digest, result: None });
        self.order.push_back((now, key.clone()));
        Begun::New
    }

    fn expire(&mut self, now: Instant) {
        while let Some((begun, key)) = self.order.front() {
            if now.saturating_duration_since(*begun) < RETENTION {
                return;
            }
            // A key that was forgotten and begun again has a younger record, which stays.
            if self.by_key.get(key).is_some_and(|record| record.begun == *begun) {
                self.by_key.remove(key);
            }
            self.order.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{Payload, Provenance};

    fn key(user: &str) -> Key {
        Key {
            user: user.parse().expect("valid"),
            tool: "debug_write".to_owned(),
            request_id: "0196f1c2-7a4b-7c3d-8e5f-0123456789ab".parse().expect("valid"),
        }
    }

    fn result() -> ToolResult {
        ToolResult {
            tool: "debug_write".to_owned(),
            fetched_at: clock::wall(),
            outcome: Ok(Payload::from_json(serde_json::json!({"n": 1}))),
            provenance: Provenance::default(),
        }
    }

    #[tokio::test]
    async fn a_repeat_meets_the_outcome_and_other_arguments_a_conflict() {
        let store = MemoryIdempotency::default();
        assert!(matches!(store.begin(&key("a"), [1; 32]).await, Begun::New));
        assert!(matches!(store.begin(&key("a"), [1; 32]).await, Begun::Unfinished));
        store.end(&key("a"), &result()).await;
        assert!(matches!(store.begin(&key("a"), [1; 32]).await, Begun::Ended(_)));
        assert!(matches!(store.begin(&key("a"), [2; 32]).await, Begun::Conflict));
        assert!(matches!(store.begin(&key("b"), [2; 32]).await, Begun::New));
    }

    #[tokio::test(start_paused = true)]
    async fn a_record_is_kept_for_a_day() {
        let store = MemoryIdempotency::default();
        store.begin(&key("a"), [1; 32]).await;
        store.end(&key("a"), &result()).await;
        let almost = RETENTION.saturating_sub(std::time::Duration::from_secs(1));
        tokio::time::advance(almost).await;
        assert!(matches!(store.begin(&key("a"), [1; 32]).await, Begun::Ended(_)));
        tokio::time::advance(std::time::Duration::from_secs(1)).await;
        assert!(matches!(store.begin(&key("a"), [1; 32]).await, Begun::New));
    }
}
