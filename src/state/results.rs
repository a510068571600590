//! Cached results of reads.

mod memory;
pub(crate) mod rows;

pub use self::memory::MemoryResults;

use std::{
    fmt::Debug,
    time::{Duration, SystemTime},
};

use futures_util::future::BoxFuture;
use prost_reflect::MessageDescriptor;

use toolwire_contract::{
    Outcome, Payload, Provenance,
    payload::{StoredPayload, WrongPayload},
};
use toolwire_db::StoreError;

/// Cache key: SHA-256 over everything that a result depends on, which is the tool, its definition, the data, the scope
/// and the arguments.
pub type ResultKey = [u8; 32];

/// Default maximum bytes of cached results in a store.
pub(super) const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// A stored result. When it is read from a store, its data is still to be deserialised.
#[derive(Clone, Debug)]
pub struct StoredResult<D = StoredPayload> {
    /// Full name of the output message, for stores that serialise results; `None` for a tool that declares its own
    /// schema.
    pub output_message: Option<String>,
    /// Data, or a `NOT_FOUND` error.
    pub outcome: Outcome<D>,
    pub provenance: Provenance,
    pub stored_at: SystemTime,
    /// How long it is fresh, from `stored_at` on.
    pub ttl: Duration,
}

impl<D> StoredResult<D> {
    pub fn age(&self, now: SystemTime) -> Duration {
        // The wall clock may have been set back: such a result has age zero, not a negative one.
        now.duration_since(self.stored_at).unwrap_or_default()
    }

    pub fn is_fresh(&self, now: SystemTime) -> bool {
        self.age(now) < self.ttl
    }
}

impl StoredResult {
    /// Deserialises the data, whose type is the given output message.
    pub fn read(self, output: Option<&MessageDescriptor>) -> Result<StoredResult<Payload>, WrongPayload> {
        let Self { output_message, outcome, provenance, stored_at, ttl } = self;
        let outcome = match outcome {
            Ok(data) => Ok(data.read(output)?),
            Err(error) => Err(error),
        };
        Ok(StoredResult { output_message, outcome, provenance, stored_at, ttl })
    }
}

impl From<StoredResult<Payload>> for StoredResult {
    fn from(live: StoredResult<Payload>) -> Self {
        let StoredResult { output_message, outcome, provenance, stored_at, ttl } = live;
        Self { output_message, outcome: outcome.map(StoredPayload::Live), provenance, stored_at, ttl }
    }
}

pub trait Results: Send + Sync + Debug {
    /// The time by the clock of a store that processes share; `None` if this one is the process's own.
    fn now(&self) -> Option<SystemTime> {
        None
    }
    /// The fresh result of a key, if there is one.
    fn get<'a>(
        &'a self,
        key: &'a ResultKey,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Option<StoredResult>, StoreError>>;
    fn put<'a>(
        &'a self,
        key: &'a ResultKey,
        result: &'a StoredResult<Payload>,
    ) -> BoxFuture<'a, Result<(), StoreError>>;
}
