//! Idempotency records in memory, for tests on a paused clock: the thread of the database knows no such time.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    future::ready,
    sync::{Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

use futures_util::future::BoxFuture;

use toolwire::{
    base::clock,
    contract::{Payload, ToolResult},
    db::StoreError,
    state::idempotency::{ArgumentsDigest, Beginning, Begun, Bound, Effect, Idempotency, Key, Quota},
    tool::context::UserId,
};

/// Remembers calls until the process ends.
#[derive(Debug, Default)]
pub struct MemoryIdempotency {
    room: Quota,
    records: Mutex<Records>,
    stopped_at: Mutex<Option<SystemTime>>,
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
    is_suspended: bool,
}

/// What is remembered of one user.
#[derive(Debug, Default)]
struct Used {
    bytes: u64,
    reads: BTreeSet<Place>,
    writes: BTreeSet<Place>,
}

impl MemoryIdempotency {
    pub fn new(room: Quota) -> Self {
        Self { room, records: Mutex::default(), stopped_at: Mutex::default() }
    }

    /// Stops its clock at an instant.
    pub fn stop_at(&self, time: SystemTime) {
        *self.stopped_at.lock().unwrap_or_else(PoisonError::into_inner) = Some(time);
    }

    /// Whether nothing is left of any call.
    pub fn is_empty(&self) -> bool {
        let records = self.records();
        records.by_key.is_empty() && records.by_end.is_empty() && records.users.is_empty()
    }

    fn records(&self) -> MutexGuard<'_, Records> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Idempotency for MemoryIdempotency {
    fn begin<'a>(&'a self, call: Beginning<'a>) -> BoxFuture<'a, Begun> {
        let now = self.stopped_at.lock().unwrap_or_else(PoisonError::into_inner).unwrap_or_else(clock::wall);
        let Beginning { key, effect, digest, .. } = call;
        Box::pin(ready(self.records().begin(key, effect, digest, now, self.room)))
    }

    fn end<'a>(&'a self, key: &'a Key, result: &'a ToolResult) -> BoxFuture<'a, Result<(), StoreError>> {
        self.records().end(key, result);
        Box::pin(ready(Ok(())))
    }

    fn suspend<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<(), StoreError>> {
        if let Some(record) = self.records().by_key.get_mut(key) {
            record.is_suspended = true;
        }
        Box::pin(ready(Ok(())))
    }

    fn forget<'a>(&'a self, key: &'a Key, _code: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
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
        room: Quota,
    ) -> Begun {
        self.expire(now);
        match self.by_key.get_mut(key) {
            Some(record) if record.digest != digest => return Begun::Conflict,
            Some(Record { result: Some(result), .. }) => {
                return Begun::Ended(Box::new(result.clone().into()));
            }
            Some(record) if record.is_suspended => {
                record.is_suspended = false;
                return Begun::New;
            }
            Some(Record { place: (end, _), effect, .. }) => {
                return Begun::Unfinished { begun: *end - effect.retention() };
            }
            None => {}
        }
        if let Some(full) = self.full(&key.user, room) {
            return full;
        }
        let place = (now + effect.retention(), self.next);
        self.next += 1;
        let used = self.users.entry(key.user.clone()).or_default();
        used.bytes += size(key, None);
        used.of(effect).insert(place);
        self.by_end.insert(place, key.clone());
        self.by_key.insert(key.clone(), Record { place, effect, digest, result: None, is_suspended: false });
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

    /// When there is room again for a user who finds none; `None` if there is some, which the user's reads make.
    fn full(&mut self, user: &UserId, room: Quota) -> Option<Begun> {
        loop {
            let own = self.users.get(user);
            let total = self.users.values().map(|used| used.bytes).sum();
            let (bound, excess) = room.full(own.map_or(0, |own| own.bytes), total)?;
            if let Some(oldest) = own.and_then(|own| own.reads.first()) {
                let key = self.by_end.get(oldest)?.clone();
                self.forget(&key);
                continue;
            }
            let until = match bound {
                Bound::User => own.and_then(|own| own.writes.first()).map(|(end, _)| *end),
                Bound::All => self.freed_at(excess),
            };
            return Some(Begun::Full { until: until?, bound });
        }
    }

    /// When so many bytes are forgotten.
    fn freed_at(&self, bytes: u64) -> Option<SystemTime> {
        let mut freed = 0;
        let mut ends = self.by_end.iter().map(|((end, _), key)| {
            freed += self.by_key.get(key).map_or(0, |record| size(key, record.result.as_ref()));
            (freed, *end)
        });
        ends.find(|(freed, _)| *freed >= bytes).map(|(_, end)| end)
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
