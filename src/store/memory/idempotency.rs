//! Idempotency records in memory.

use std::{
    collections::{BTreeMap, HashMap},
    future::ready,
    sync::{Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

use futures_util::future::BoxFuture;

use crate::{
    context::UserId,
    contract::{Payload, ToolResult},
    store::{
        StoreError,
        idempotency::{
            ArgumentsDigest, Begun, CAPACITY, Idempotency, Key, RETENTION, USER_BYTES, USER_CAPACITY,
        },
    },
};

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
    begun: SystemTime,
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
    fn begin<'a>(&'a self, key: &'a Key, digest: ArgumentsDigest, now: SystemTime) -> BoxFuture<'a, Begun> {
        Box::pin(ready(self.records().begin(key, digest, now)))
    }

    fn end<'a>(&'a self, key: &'a Key, result: &'a ToolResult) -> BoxFuture<'a, Result<(), StoreError>> {
        self.records().end(key, result);
        Box::pin(ready(Ok(())))
    }

    fn forget<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<(), StoreError>> {
        self.records().forget(key);
        Box::pin(ready(Ok(())))
    }
}

impl Records {
    fn begin(&mut self, key: &Key, digest: ArgumentsDigest, now: SystemTime) -> Begun {
        self.expire(now);
        match self.by_key.get(key) {
            Some(record) if record.digest != digest => return Begun::Conflict,
            Some(Record { result: Some(result), .. }) => {
                return Begun::Ended(Box::new(result.clone().into()));
            }
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

    fn expire(&mut self, now: SystemTime) {
        while let Some(key) = self.order.first_key_value().map(|(_, key)| key.clone()) {
            let is_old = |record: &Record| now.duration_since(record.begun).is_ok_and(|age| age >= RETENTION);
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
    use crate::{clock, context::RequestId};

    #[test]
    fn what_is_forgotten_leaves_nothing_behind() {
        let store = MemoryIdempotency::default();
        let key = Key {
            user: "a".parse().expect("valid"),
            tool: "debug_write".parse().expect("a name"),
            request_id: RequestId::generate(),
        };
        for _ in 0..3 {
            assert!(matches!(
                store.records().begin(&key, crate::digest::Digest::of_bytes(b"1"), clock::wall()),
                Begun::New
            ));
            store.records().forget(&key);
        }
        let records = store.records();
        assert!(records.by_key.is_empty() && records.order.is_empty() && records.users.is_empty());
    }
}
