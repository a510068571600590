//! Cached results: what a read returned, kept for a while (spec 004 §6).

use std::{
    fmt::Debug,
    time::{Duration, SystemTime},
};

use futures_util::future::BoxFuture;
use prost_reflect::MessageDescriptor;

use super::StoreError;
use toolwire_contract::{
    Outcome, Payload, Provenance,
    payload::{StoredPayload, WrongPayload},
};

/// SHA-256 over everything that a result depends on: the tool, its definition, the data, the scope, the arguments.
pub type ResultKey = [u8; 32];

/// How many bytes of results a store keeps unless another bound is set.
pub(super) const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// A result as it was stored. Out of a store, its data is yet to be read.
#[derive(Clone, Debug)]
pub struct StoredResult<D = StoredPayload> {
    /// Full name of the output message, for a store that keeps bytes; `None` for a tool that declares its schema
    /// itself.
    pub output_message: Option<String>,
    /// Data, or a `NOT_FOUND`.
    pub outcome: Outcome<D>,
    /// Where it came from.
    pub provenance: Provenance,
    /// When it was stored.
    pub stored_at: SystemTime,
    /// How long it is fresh from then on.
    pub ttl: Duration,
}

impl<D> StoredResult<D> {
    /// How old it is.
    pub fn age(&self, now: SystemTime) -> Duration {
        // A wall clock may be set back; what was stored a moment ago is then new, not from the future.
        now.duration_since(self.stored_at).unwrap_or_default()
    }

    /// Whether it may still answer.
    pub fn is_fresh(&self, now: SystemTime) -> bool {
        self.age(now) < self.ttl
    }
}

impl StoredResult {
    /// The same with its data, which is of the given output message.
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
    /// The result of a key, if there is a fresh one.
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
