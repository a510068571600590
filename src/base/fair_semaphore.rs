//! A semaphore with a limit for each key and one for all keys together, fair among keys: a key with many waiters delays
//! another by at most as many permits as its own limit.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

#[derive(Debug)]
pub struct FairSemaphore<K> {
    all: Arc<Semaphore>,
    per_key: usize,
    /// The semaphore of each key that has or awaits a permit.
    by_key: Mutex<HashMap<K, Weak<Semaphore>>>,
}

/// Released when it is dropped.
#[derive(Debug)]
pub struct Permit {
    _all: OwnedSemaphorePermit,
    _of_key: Option<OwnedSemaphorePermit>,
}

impl<K: Clone + Eq + Hash> FairSemaphore<K> {
    /// A semaphore of `permits` in all, and at most `per_key` of them for one key.
    pub fn new(permits: usize, per_key: usize) -> Self {
        Self { all: Arc::new(Semaphore::new(permits)), per_key, by_key: Mutex::default() }
    }

    /// The permits that are free, of those of all keys.
    pub fn available_permits(&self) -> usize {
        self.all.available_permits()
    }

    /// Waits for a permit of a key. Without a key only the limit of all counts.
    pub async fn acquire(&self, key: Option<&K>) -> Permit {
        // The key's own permit first. This order is what makes it fair: `all` is first come, first served, and a key
        // never has more than its limit of waiters in that queue, however many wait here.
        let of_key = match key {
            Some(key) => Some(self.semaphore_of(key).acquire_owned().await.expect("never closed")),
            None => None,
        };
        let all = Arc::clone(&self.all).acquire_owned().await.expect("never closed");
        Permit { _all: all, _of_key: of_key }
    }

    /// Waits for a permit of a key, and runs a future with it.
    pub async fn run<T>(&self, key: Option<&K>, work: impl Future<Output = T>) -> T {
        let _permit = self.acquire(key).await;
        work.await
    }

    fn semaphore_of(&self, key: &K) -> Arc<Semaphore> {
        let mut by_key = self.by_key.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(semaphore) = by_key.get(key).and_then(Weak::upgrade) {
            return semaphore;
        }
        // The map grows only here, so it is enough to prune it here.
        by_key.retain(|_, semaphore| semaphore.strong_count() > 0);
        let semaphore = Arc::new(Semaphore::new(self.per_key));
        by_key.insert(key.clone(), Arc::downgrade(&semaphore));
        semaphore
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use futures_util::{FutureExt, future::LocalBoxFuture};
    use tokio::task::yield_now;

    use super::*;

    /// The keys in the order in which their work was done.
    fn order(permits: usize, keys: &[&str]) -> String {
        let (semaphore, done) = (FairSemaphore::new(permits, 1), Mutex::new(String::new()));
        let work = async |id: &str| {
            yield_now().await;
            done.lock().unwrap().push_str(id);
        };
        let (semaphore, work) = (&semaphore, &work);
        let asked = keys.iter().map(|id| {
            let take: LocalBoxFuture<'_, ()> =
                Box::pin(async move { semaphore.run(Some(&id), work(id)).await });
            take
        });
        let mut waiting: Vec<_> = asked.collect();
        while !waiting.is_empty() {
            waiting.retain_mut(|take| take.now_or_never().is_none());
        }
        assert!(semaphore.by_key.lock().unwrap().values().all(|it| it.strong_count() == 0));
        drop(waiting);
        done.into_inner().unwrap()
    }

    #[test]
    fn a_flood_of_one_key_delays_others_by_one_permit() {
        assert_eq!(order(1, &["a", "a", "a", "b"]), "abaa");
        assert_eq!(order(1, &["a", "a", "b", "b", "c"]), "abcab");
        assert_eq!(order(2, &["a", "a", "a", "b", "c"]), "abcaa");
    }

    #[test]
    fn a_key_has_at_most_its_limit() {
        let semaphore = FairSemaphore::new(4, 2);
        let acquire = |key| semaphore.acquire(Some(key)).now_or_never();
        let held = [acquire(&"a"), acquire(&"a")];
        assert!(held.iter().all(Option::is_some) && acquire(&"a").is_none());
        assert!(acquire(&"b").is_some());
        drop(held);
        assert!(acquire(&"a").is_some());
    }

    #[test]
    fn a_cancelled_wait_leaves_no_trace() {
        let semaphore = FairSemaphore::new(1, 1);
        let (holding, waiting) = ("a", "b");
        let mut held = Box::pin(semaphore.run(Some(&holding), pending::<()>()));
        assert!(held.as_mut().now_or_never().is_none());
        assert!(semaphore.run(Some(&waiting), async {}).now_or_never().is_none());
        drop(held);
        assert!(semaphore.run(Some(&waiting), async {}).now_or_never().is_some());
        assert!(semaphore.run(None, async {}).now_or_never().is_some());
        assert_eq!(semaphore.by_key.lock().unwrap().len(), 1);
    }
}
