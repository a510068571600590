//! Idempotency records in memory.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
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
        idempotency::{ArgumentsDigest, Begun, Effect, Idempotency, Key, USER_BYTES},
    },
};

/// Remembers calls until the process ends.
#[derive(Debug)]
pub struct MemoryIdempotency {
    /// How many bytes the records of one user may have.
    user_bytes: u64,
    records: Mutex<Records>,
}

#[derive(Debug, Default)]
struct Records {
    by_key: HashMap<Key, Record>,
    /// First those that are forgotten first.
    by_end: BTreeMap<Place, Key>,
    next: u64,
    users: HashMap<UserId, Used>,
}

/// When a record is forgotten, and its number.
type Place = (SystemTime, u64);

#[derive(Debug)]
struct Record {
    place: Place,
    effect: Effect,
    digest: ArgumentsDigest,
    result: Option<ToolResult>,
}

/// What is remembered of one user.
#[derive(Debug, Default)]
struct Used {
    bytes: u64,
    reads: BTreeSet<Place>,
    writes: BTreeSet<Place>,
}

impl Default for MemoryIdempotency {
    fn default() -> Self {
        Self::new(USER_BYTES)
    }
}

impl MemoryIdempotency {
    /// Remembers so many bytes of each user.
    pub fn new(user_bytes: u64) -> Self {
        Self { user_bytes, records: Mutex::default() }
    }

    fn records(&self) -> MutexGuard<'_, Records> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Idempotency for MemoryIdempotency {
    fn begin<'a>(
        &'a self,
        key: &'a Key,
        effect: Effect,
        digest: ArgumentsDigest,
        now: SystemTime,
    ) -> BoxFuture<'a, Begun> {
        Box::pin(ready(self.records().begin(key, effect, digest, now, self.user_bytes)))
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
    fn begin(
        &mut self,
        key: &Key,
        effect: Effect,
        digest: ArgumentsDigest,
        now: SystemTime,
        user_bytes: u64,
    ) -> Begun {
        self.expire(now);
        match self.by_key.get(key) {
            Some(record) if record.digest != digest => return Begun::Conflict,
            Some(Record { result: Some(result), .. }) => {
                return Begun::Ended(Box::new(result.clone().into()));
            }
            Some(Record { place: (end, _), effect, .. }) => {
                return Begun::Unfinished { begun: *end - effect.retention() };
            }
            None => {}
        }
        if let Some(until) = self.full_until(&key.user, user_bytes) {
            return Begun::Full { until };
        }
        let place = (now + effect.retention(), self.next);
        self.next += 1;
        let used = self.users.entry(key.user.clone()).or_default();
        used.bytes += size(key, None);
        used.of(effect).insert(place);
        self.by_end.insert(place, key.clone());
        self.by_key.insert(key.clone(), Record { place, effect, digest, result: None });
        Begun::New
    }

    fn end(&mut self, key: &Key, result: &ToolResult) {
        let Some(record) = self.by_key.get_mut(key) else { return };
        let before = record.result.replace(result.clone());
        let used = self.users.entry(key.user.clone()).or_default();
        used.bytes = used.bytes + size(key, Some(result)) - size(key, before.as_ref());
    }

    fn forget(&mut self, key: &Key) {
        let Some(record) = self.by_key.remove(key) else { return };
        self.by_end.remove(&record.place);
        if let Some(used) = self.users.get_mut(&key.user) {
            used.bytes -= size(key, record.result.as_ref());
            used.of(record.effect).remove(&record.place);
            if used.reads.is_empty() && used.writes.is_empty() {
                self.users.remove(&key.user);
            }
        }
    }

    /// When a full share of a user's has room again; `None` if it has some, which reads make for others.
    fn full_until(&mut self, user: &UserId, user_bytes: u64) -> Option<SystemTime> {
        loop {
            let share = self.users.get(user).filter(|share| share.bytes >= user_bytes)?;
            let Some(oldest) = share.reads.first() else { return share.writes.first().map(|(end, _)| *end) };
            let key = self.by_end.get(oldest)?.clone();
            self.forget(&key);
        }
    }

    fn expire(&mut self, now: SystemTime) {
        while let Some(((end, _), key)) = self.by_end.first_key_value() {
            if *end > now {
                return;
            }
            let key = key.clone();
            self.forget(&key);
        }
    }
}

impl Used {
    fn of(&mut self, effect: Effect) -> &mut BTreeSet<Place> {
        match effect {
            Effect::Read => &mut self.reads,
            Effect::Write => &mut self.writes,
        }
    }
}

fn size(key: &Key, result: Option<&ToolResult>) -> u64 {
    let outcome = result.and_then(|result| result.outcome.as_ref().ok()).map_or(0, Payload::encoded_len);
    (key.bytes() + outcome) as u64
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
            let (digest, now) = (crate::digest::Digest::of_bytes(b"1"), clock::wall());
            let begun = store.records().begin(&key, Effect::Write, digest, now, USER_BYTES);
            assert!(matches!(begun, Begun::New));
            store.records().forget(&key);
        }
        let records = store.records();
        assert!(records.by_key.is_empty() && records.by_end.is_empty() && records.users.is_empty());
    }
}
