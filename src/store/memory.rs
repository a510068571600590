//! Idempotency records in memory: bounded, and gone with the process.

use std::{
    collections::{BTreeMap, HashMap},
    future::ready,
    sync::{Mutex, MutexGuard, PoisonError},
};

use futures_util::future::BoxFuture;
use tokio::time::Instant;

use super::idempotency::{ArgumentsDigest, Begun, Idempotency, Key, RETENTION};
use crate::{
    clock,
    context::UserId,
    contract::{Payload, ToolResult},
};

/// How many calls are remembered. Beyond it new ones are refused rather than old ones forgotten: forgetting could
/// repeat a write.
const CAPACITY: usize = 100_000;

/// How many calls of one user are remembered: no user can use up what is there for all.
const USER_CAPACITY: usize = 10_000;

/// How many bytes the outcomes of one user's calls may have before new ones are refused.
const USER_BYTES: usize = 32 * 1024 * 1024;

/// Remembers calls until the process ends.
#[derive(Debug, Default)]
pub struct MemoryIdempotency(Mutex<Records>);

#[derive(Debug, Default)]
struct Records {
    by_key: HashMap<Key, Record>,
    /// By number: oldest first.
    order: BTreeMap<u64, Key>,
    next: u64,
    users: HashMap<UserId, Used>,
}

#[derive(Debug)]
struct Record {
    number: u64,
    begun: Instant,
    digest: ArgumentsDigest,
    result: Option<ToolResult>,
}

/// What is remembered of one user.
#[derive(Debug, Default)]
struct Used {
    records: usize,
    bytes: usize,
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
        self.records().end(key, result);
        Box::pin(ready(()))
    }

    fn forget<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, ()> {
        self.records().forget(key);
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
            None if self.is_full(&key.user) => return Begun::Full,
            None => {}
        }
        let number = self.next;
        self.next += 1;
        self.users.entry(key.user.clone()).or_default().records += 1;
        self.order.insert(number, key.clone());
        self.by_key.insert(key.clone(), Record { number, begun: now, digest, result: None });
        Begun::New
    }

    fn end(&mut self, key: &Key, result: &ToolResult) {
        let Some(record) = self.by_key.get_mut(key) else { return };
        let before = record.result.replace(result.clone());
        let used = self.users.entry(key.user.clone()).or_default();
        used.bytes = used.bytes + size(Some(result)) - size(before.as_ref());
    }

    fn forget(&mut self, key: &Key) {
        let Some(record) = self.by_key.remove(key) else { return };
        self.order.remove(&record.number);
        if let Some(used) = self.users.get_mut(&key.user) {
            used.records -= 1;
            used.bytes -= size(record.result.as_ref());
            if used.records == 0 {
                self.users.remove(&key.user);
            }
        }
    }

    fn is_full(&self, user: &UserId) -> bool {
        let is_used_up = |used: &Used| used.records >= USER_CAPACITY || used.bytes >= USER_BYTES;
        self.by_key.len() >= CAPACITY || self.users.get(user).is_some_and(is_used_up)
    }

    fn expire(&mut self, now: Instant) {
        while let Some(key) = self.order.first_key_value().map(|(_, key)| key.clone()) {
            let is_old = |record: &Record| now.saturating_duration_since(record.begun) >= RETENTION;
            if !self.by_key.get(&key).is_some_and(is_old) {
                return;
            }
            self.forget(&key);
        }
    }
}

fn size(result: Option<&ToolResult>) -> usize {
    result.and_then(|result| result.outcome.as_ref().ok()).map_or(0, Payload::encoded_len)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{context::RequestId, contract::Provenance};

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

    #[tokio::test]
    async fn what_is_forgotten_leaves_nothing_behind() {
        let store = MemoryIdempotency::default();
        for _ in 0..3 {
            assert!(matches!(store.begin(&key("a"), [1; 32]).await, Begun::New));
            store.end(&key("a"), &result()).await;
            store.forget(&key("a")).await;
        }
        let records = store.records();
        assert!(records.by_key.is_empty() && records.order.is_empty() && records.users.is_empty());
    }

    #[tokio::test]
    async fn a_user_who_used_up_its_share_leaves_room_for_others() {
        let store = MemoryIdempotency::default();
        for _ in 0..USER_CAPACITY {
            let key = Key { request_id: RequestId::generate(), ..key("a") };
            assert!(matches!(store.begin(&key, [1; 32]).await, Begun::New));
        }
        assert!(matches!(store.begin(&key("a"), [1; 32]).await, Begun::Full));
        assert!(matches!(store.begin(&key("b"), [1; 32]).await, Begun::New));
    }

    #[tokio::test]
    async fn large_outcomes_use_up_a_share_too() {
        let store = MemoryIdempotency::default();
        let large = Payload::from_json("x".repeat(USER_BYTES).into());
        store.begin(&key("a"), [1; 32]).await;
        store.end(&key("a"), &ToolResult { outcome: Ok(large), ..result() }).await;
        let next = Key { request_id: RequestId::generate(), ..key("a") };
        assert!(matches!(store.begin(&next, [1; 32]).await, Begun::Full));
        assert!(matches!(store.begin(&key("a"), [1; 32]).await, Begun::Ended(_)));
    }
}
