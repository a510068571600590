//! Cached results: what a read returned, kept for a while (spec 004 §6).

use std::{
    fmt::Debug,
    time::{Duration, SystemTime},
};

use futures_util::future::BoxFuture;

use super::StoreError;
use crate::contract::{Outcome, Provenance};

/// SHA-256 over everything that a result depends on: the tool, its definition, the data, the scope, the arguments.
pub type ResultKey = [u8; 32];

/// A result as it was stored.
#[derive(Clone, Debug)]
pub struct StoredResult {
    /// Full name of the output message, for a store that keeps bytes; `None` for a tool that declares its schema itself.
    pub output_message: Option<String>,
    /// Data, or a `NOT_FOUND`.
    pub outcome: Outcome,
    /// Where it came from.
    pub provenance: Provenance,
    /// When it was stored.
    pub stored_at: SystemTime,
    /// How long it is fresh from then on.
    pub ttl: Duration,
}

impl StoredResult {
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

/// Keeps results.
pub trait Results: Send + Sync + Debug {
    /// The result of a key, if there is a fresh one.
    fn get<'a>(
        &'a self,
        key: &'a ResultKey,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Option<StoredResult>, StoreError>>;
    /// Keeps a result.
    fn put<'a>(
        &'a self,
        key: &'a ResultKey,
        result: &'a StoredResult,
    ) -> BoxFuture<'a, Result<(), StoreError>>;
}
