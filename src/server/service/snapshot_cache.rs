//! A cache of values made from a snapshot of the registry, for as long as it is the current one.
//!
//! For a few large values: one for each visible set of tools and each form. Values for a filter of a caller's choice
//! are not cached, so that one caller cannot evict the values of others.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use toolwire_base::{digest::Digest, offload};
use toolwire_engine::registry::Snapshot;

/// Bounds of the cache, in entries and in bytes.
const MAX_ENTRIES: usize = 64;
const MAX_BYTES: usize = 32 * 1024 * 1024;

/// Answers about one state of the registry. Cheap to clone; clones share it.
#[derive(Debug)]
pub struct SnapshotCache<V>(Arc<Mutex<Answers<V>>>);

#[derive(Debug)]
struct Answers<V> {
    /// Weak, so that it keeps no tools alive. While it exists, no other snapshot has the same address.
    of: Weak<Snapshot>,
    /// Values with their key and size, the newest first.
    made: VecDeque<(Digest, usize, V)>,
}

impl<V> Default for SnapshotCache<V> {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Answers { of: Weak::new(), made: VecDeque::new() })))
    }
}

impl<V> Clone for SnapshotCache<V> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<V: Clone + Send + 'static> SnapshotCache<V> {
    /// The value of a key. On a miss it is made under a permit of the user's, since it has about this many bytes;
    /// `make` returns its actual size.
    pub async fn of(
        &self,
        snapshot: &Arc<Snapshot>,
        key: Digest,
        bytes: usize,
        make: impl FnOnce() -> (usize, V) + Send + 'static,
    ) -> V {
        if let Some(found) = self.find(snapshot, &key) {
            return found;
        }
        let (kept, snapshot) = (self.clone(), Arc::clone(snapshot));
        // Looked up again under the permit: a caller before may have made it.
        let work = move || kept.find(&snapshot, &key).unwrap_or_else(|| kept.keep(&snapshot, key, make()));
        offload::if_large(bytes, work).await
    }

    fn find(&self, snapshot: &Arc<Snapshot>, key: &Digest) -> Option<V> {
        let answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if answers.of.as_ptr() != Arc::as_ptr(snapshot) {
            return None;
        }
        answers.made.iter().find(|(it, ..)| it == key).map(|(.., value)| value.clone())
    }

    fn keep(&self, snapshot: &Arc<Snapshot>, key: Digest, (bytes, value): (usize, V)) -> V {
        let mut answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if answers.of.as_ptr() != Arc::as_ptr(snapshot) {
            *answers = Answers { of: Arc::downgrade(snapshot), made: VecDeque::new() };
        }
        answers.made.push_front((key, bytes, value.clone()));
        while answers.made.len() > MAX_ENTRIES
            || answers.made.iter().map(|(_, bytes, _)| bytes).sum::<usize>() > MAX_BYTES
        {
            answers.made.pop_back();
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use futures_util::future::join_all;

    use super::*;

    const LARGE: usize = offload::SMALL + 1;

    static MADE: AtomicUsize = AtomicUsize::new(0);

    async fn ask(kept: &SnapshotCache<usize>, snapshot: &Arc<Snapshot>, key: &str, bytes: usize) -> usize {
        kept.of(snapshot, Digest::of_bytes(key.as_bytes()), bytes, move || {
            (bytes, MADE.fetch_add(1, Relaxed))
        })
        .await
    }

    #[tokio::test]
    async fn an_answer_is_made_once_a_snapshot_however_many_ask_at_once() {
        let (kept, one, other) =
            (SnapshotCache::default(), Arc::new(Snapshot::empty()), Arc::new(Snapshot::empty()));
        let all =
            join_all((0..50).map(|_| async {
                offload::on_behalf(Arc::from("flood"), ask(&kept, &one, "a", LARGE)).await
            }));
        let all = all.await;
        assert!(all.iter().all(|it| *it == all[0]), "{all:?}");
        assert_ne!(ask(&kept, &one, "b", LARGE).await, all[0]);
        assert_eq!(ask(&kept, &one, "a", LARGE).await, all[0]);
        let later = ask(&kept, &other, "a", LARGE).await;
        assert_ne!(later, all[0]);
        assert_eq!(ask(&kept, &other, "a", LARGE).await, later);
    }

    #[tokio::test]
    async fn few_answers_are_kept_and_few_bytes() {
        let (kept, snapshot) = (SnapshotCache::default(), Arc::new(Snapshot::empty()));
        let first = ask(&kept, &snapshot, "0", 1).await;
        for number in 1..MAX_ENTRIES {
            ask(&kept, &snapshot, &number.to_string(), 1).await;
        }
        assert_eq!(ask(&kept, &snapshot, "0", 1).await, first);
        ask(&kept, &snapshot, "more", 1).await;
        assert_ne!(ask(&kept, &snapshot, "0", 1).await, first);
        let large = ask(&kept, &snapshot, "large", MAX_BYTES).await;
        assert_eq!(ask(&kept, &snapshot, "large", MAX_BYTES).await, large);
        ask(&kept, &snapshot, "another", 1).await;
        assert_ne!(ask(&kept, &snapshot, "large", MAX_BYTES).await, large);
    }
}
