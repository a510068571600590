//! The calls with a `request_id` that were admitted and may not be recorded yet.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::MutexGuard as Turn;

use super::super::idempotency::KeyLocks;
use toolwire_state::idempotency::Key;

/// Cheap to clone; clones share state.
#[derive(Clone, Debug, Default)]
pub(super) struct Admissions {
    turns: KeyLocks,
    /// How many calls of each key are under way.
    admitted: Arc<Mutex<HashMap<Key, usize>>>,
}

/// An admitted call, until it has ended.
pub(super) struct Admission {
    key: Key,
    admissions: Admissions,
}

impl Admissions {
    /// Waits until no other call decides on the key.
    pub(super) async fn turn(&self, key: &Key) -> Turn<'_, ()> {
        self.turns.lock(key).await
    }

    pub(super) fn has(&self, key: &Key) -> bool {
        self.lock().contains_key(key)
    }

    pub(super) fn note(&self, key: Key) -> Admission {
        *self.lock().entry(key.clone()).or_default() += 1;
        Admission { key, admissions: self.clone() }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, usize>> {
        self.admitted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        let mut admitted = self.admissions.lock();
        let calls = admitted.get_mut(&self.key).map(|calls| {
            *calls -= 1;
            *calls
        });
        if calls == Some(0) {
            admitted.remove(&self.key);
        }
    }
}
