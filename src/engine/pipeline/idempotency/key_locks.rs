//! Locks by key: the record of a key and the work in flight for it change together under its lock, so that concurrent
//! callers never see one without the other.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};

use tokio::sync::{Mutex, MutexGuard};

/// The number of locks. Keys that share a lock contend for it, which only costs time.
const LOCKS: usize = 64;

/// A fixed number of locks, each for many keys. Cheap to clone; clones share state.
#[derive(Clone, Debug)]
pub(in crate::pipeline) struct KeyLocks(Arc<[Mutex<()>; LOCKS]>);

impl Default for KeyLocks {
    fn default() -> Self {
        Self(Arc::new(std::array::from_fn(|_| Mutex::new(()))))
    }
}

impl KeyLocks {
    /// Acquires the key's lock, until the guard is dropped.
    pub(in crate::pipeline) async fn lock(&self, key: &impl Hash) -> MutexGuard<'_, ()> {
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        #[allow(clippy::cast_possible_truncation, reason = "a remainder of a small number")]
        let index = (hasher.finish() % LOCKS as u64) as usize;
        self.0[index].lock().await
    }
}
