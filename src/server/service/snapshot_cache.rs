//! A cache of values made from a snapshot of the registry, for as long as it is the current one.
//!
//! For a few large values: one for each visible set of tools and each form. Values for a filter of a caller's choice
//! are not cached, so that one caller cannot evict the values of others.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use toolwire_base::{digest::Digest, offload};
use toolwire_engine::registry::Snapshot;

/// Bounds of the cache, in entries and in bytes.
const MAX_ENTRIES: usize = 64;
const MAX_BYTES: usize = 32 * 1024 * 1024;

/// Values by their key. Cheap to clone; clones share state.
#[derive(Debug)]
pub struct SnapshotCache<V>(Arc<Mutex<State<V>>>);

#[derive(Debug)]
struct State<V> {
    /// The snapshot that all values are made from. Weak, so that it keeps no tools alive. While it exists, no other
    /// snapshot has the same address.
    snapshot: Weak<Snapshot>,
    /// The newest first.
    entries: VecDeque<Entry<V>>,
}

#[derive(Debug)]
struct Entry<V> {
    key: Digest,
    bytes: usize,
    value: V,
}

impl<V> Default for SnapshotCache<V> {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(State { snapshot: Weak::new(), entries: VecDeque::new() })))
    }
}

impl<V> Clone for SnapshotCache<V> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<V: Clone + Send + 'static> SnapshotCache<V> {
    /// The value of a key. On a miss, `make` returns the value and its size, under a permit of the user's if the
    /// estimate of its size, `bytes`, is large.
    pub async fn get_or_make(
        &self,
        snapshot: &Arc<Snapshot>,
        key: Digest,
        bytes: usize,
        make: impl FnOnce() -> (usize, V) + Send + 'static,
    ) -> V {
        if let Some(value) = self.get(snapshot, &key) {
            return value;
        }
        let (cache, snapshot) = (self.clone(), Arc::clone(snapshot));
        // Looked up again under the permit: another caller may have made the value while this one waited.
        let work = move || cache.get(&snapshot, &key).unwrap_or_else(|| cache.insert(&snapshot, key, make()));
        offload::if_large(bytes, work).await
    }

    fn get(&self, snapshot: &Arc<Snapshot>, key: &Digest) -> Option<V> {
        let state = self.lock();
        if state.snapshot.as_ptr() != Arc::as_ptr(snapshot) {
            return None;
        }
        state.entries.iter().find(|entry| entry.key == *key).map(|entry| entry.value.clone())
    }

    fn insert(&self, snapshot: &Arc<Snapshot>, key: Digest, (bytes, value): (usize, V)) -> V {
        let mut state = self.lock();
        if state.snapshot.as_ptr() != Arc::as_ptr(snapshot) {
            *state = State { snapshot: Arc::downgrade(snapshot), entries: VecDeque::new() };
        }
        state.entries.push_front(Entry { key, bytes, value: value.clone() });
        while state.entries.len() > MAX_ENTRIES
            || state.entries.iter().map(|entry| entry.bytes).sum::<usize>() > MAX_BYTES
        {
            state.entries.pop_back();
        }
        value
    }

    fn lock(&self) -> MutexGuard<'_, State<V>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use futures_util::future::join_all;

    use super::*;

    const LARGE: usize = offload::SMALL + 1;

    static MADE: AtomicUsize = AtomicUsize::new(0);

    async fn get(cache: &SnapshotCache<usize>, snapshot: &Arc<Snapshot>, key: &str, bytes: usize) -> usize {
        cache
            .get_or_make(snapshot, Digest::of_bytes(key.as_bytes()), bytes, move || {
                (bytes, MADE.fetch_add(1, Relaxed))
            })
            .await
    }

    #[tokio::test]
    async fn a_value_is_made_once_per_snapshot_however_many_callers_miss_at_once() {
        let (cache, one, other) =
            (SnapshotCache::default(), Arc::new(Snapshot::empty()), Arc::new(Snapshot::empty()));
        let all =
            join_all((0..50).map(|_| async {
                offload::on_behalf(Arc::from("flood"), get(&cache, &one, "a", LARGE)).await
            }));
        let all = all.await;
        assert!(all.iter().all(|it| *it == all[0]), "{all:?}");
        assert_ne!(get(&cache, &one, "b", LARGE).await, all[0]);
        assert_eq!(get(&cache, &one, "a", LARGE).await, all[0]);
        let later = get(&cache, &other, "a", LARGE).await;
        assert_ne!(later, all[0]);
        assert_eq!(get(&cache, &other, "a", LARGE).await, later);
    }

    #[tokio::test]
    async fn entries_and_bytes_are_bounded() {
        let (cache, snapshot) = (SnapshotCache::default(), Arc::new(Snapshot::empty()));
        let first = get(&cache, &snapshot, "0", 1).await;
        for number in 1..MAX_ENTRIES {
            get(&cache, &snapshot, &number.to_string(), 1).await;
        }
        assert_eq!(get(&cache, &snapshot, "0", 1).await, first);
        get(&cache, &snapshot, "more", 1).await;
        assert_ne!(get(&cache, &snapshot, "0", 1).await, first);
        let large = get(&cache, &snapshot, "large", MAX_BYTES).await;
        assert_eq!(get(&cache, &snapshot, "large", MAX_BYTES).await, large);
        get(&cache, &snapshot, "another", 1).await;
        assert_ne!(get(&cache, &snapshot, "large", MAX_BYTES).await, large);
    }
}
