//! Idempotency records in memory, for tests on a paused clock: the thread of the database knows no such time.
//!
//! It has room for every call; what is refused for lack of room is the state's.

use std::{
    collections::HashMap,
    future::ready,
    sync::{Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

use futures_util::future::BoxFuture;

use toolwire::{
    base::clock,
    contract::ToolResult,
    db::StoreError,
    state::idempotency::{ArgumentsDigest, Beginning, Begun, Effect, Idempotency, Key},
};

/// Remembers calls until the process ends.
#[derive(Debug, Default)]
pub struct MemoryIdempotency {
    records: Mutex<HashMap<Key, Record>>,
    stopped_at: Mutex<Option<SystemTime>>,
}

#[derive(Debug)]
struct Record {
    begun: SystemTime,
    effect: Effect,
    digest: ArgumentsDigest,
    result: Option<ToolResult>,
    is_suspended: bool,
}

impl MemoryIdempotency {
    /// Stops its clock at an instant.
    pub fn stop_at(&self, time: SystemTime) {
        *self.stopped_at.lock().unwrap_or_else(PoisonError::into_inner) = Some(time);
    }

    fn records(&self) -> MutexGuard<'_, HashMap<Key, Record>> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn admit(&self, Beginning { key, effect, digest, .. }: Beginning<'_>) -> Begun {
        let now = self.stopped_at.lock().unwrap_or_else(PoisonError::into_inner).unwrap_or_else(clock::wall);
        let mut records = self.records();
        records.retain(|_, record| record.begun + record.effect.retention() > now);
        match records.get_mut(key) {
            Some(record) if record.digest != digest => Begun::Conflict,
            Some(Record { result: Some(result), .. }) => Begun::Ended(Box::new(result.clone().into())),
            Some(record) if record.is_suspended => {
                record.is_suspended = false;
                Begun::New
            }
            Some(Record { begun, .. }) => Begun::Unfinished { begun: *begun },
            None => {
                let record = Record { begun: now, effect, digest, result: None, is_suspended: false };
                records.insert(key.clone(), record);
                Begun::New
            }
        }
    }
}

impl Idempotency for MemoryIdempotency {
    fn begin<'a>(&'a self, call: Beginning<'a>) -> BoxFuture<'a, Begun> {
        Box::pin(ready(self.admit(call)))
    }

    fn end<'a>(&'a self, key: &'a Key, result: &'a ToolResult) -> BoxFuture<'a, Result<(), StoreError>> {
        if let Some(record) = self.records().get_mut(key) {
            record.result = Some(result.clone());
        }
        Box::pin(ready(Ok(())))
    }

    fn suspend<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<(), StoreError>> {
        if let Some(record) = self.records().get_mut(key) {
            record.is_suspended = true;
        }
        Box::pin(ready(Ok(())))
    }

    fn forget<'a>(&'a self, key: &'a Key, _code: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        self.records().remove(key);
        Box::pin(ready(Ok(())))
    }
}
