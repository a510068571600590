//! Locks by key: what is known of a key in the store and among the work under way changes only under its lock, so that
//! two callers at the same instant never see half of a change.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};

use tokio::sync::{Mutex, MutexGuard};

/// Two keys of one lock wait for each other, which costs a moment and no more.
const LOCKS: usize = 64;

/// A fixed number of locks, each for many keys. Cheap to clone; clones share state.
#[derive(Clone, Debug)]
pub(super) struct KeyLocks(Arc<[Mutex<()>; LOCKS]>);

impl Default for KeyLocks {
    fn default() -> Self {
        Self(Arc::new(std::array::from_fn(|_| Mutex::new(()))))
    }
}

impl KeyLocks {
    /// Waits for the key's lock; it is held until the guard is dropped.
    pub(super) async fn lock(&self, key: &impl Hash) -> MutexGuard<'_, ()> {
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        #[allow(clippy::cast_possible_truncation, reason = "a remainder of a small number")]
        let index = (hasher.finish() % LOCKS as u64) as usize;
        self.0[index].lock().await
    }
}
