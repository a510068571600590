//! Bounds the concurrent work of each key and of all keys together, and serves waiting keys in turn: a key with much
//! work delays another by a few pieces of it at most.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

#[derive(Debug)]
pub struct FairSemaphore<K> {
    all: Arc<Semaphore>,
    each: usize,
    /// The semaphore of each key that has or awaits a permit.
    own: Mutex<HashMap<K, Weak<Semaphore>>>,
}

/// Given back when it is dropped.
#[derive(Debug)]
pub struct Permit {
    _all: OwnedSemaphorePermit,
    _own: Option<OwnedSemaphorePermit>,
}

impl<K: Clone + Eq + Hash> FairSemaphore<K> {
    /// At most `at_once` permits in all, and `each` per key.
    pub fn new(at_once: usize, each: usize) -> Self {
        Self { all: Arc::new(Semaphore::new(at_once)), each, own: Mutex::default() }
    }

    /// Waits for a permit of a key. Without a key only the limit of all counts.
    ///
    /// # Panics
    /// Never: the semaphores are never closed.
    pub async fn acquire(&self, key: Option<&K>) -> Permit {
        let own = match key {
            Some(key) => Some(self.own(key).acquire_owned().await.expect("never closed")),
            None => None,
        };
        // Waited for in order, by few works of each key.
        let all = Arc::clone(&self.all).acquire_owned().await.expect("never closed");
        Permit { _all: all, _own: own }
    }

    /// Does work with a permit of a key.
    pub async fn run<T>(&self, key: Option<&K>, work: impl Future<Output = T>) -> T {
        let _permit = self.acquire(key).await;
        work.await
    }

    fn own(&self, key: &K) -> Arc<Semaphore> {
        let mut all = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = all.get(key).and_then(Weak::upgrade) {
            return own;
        }
        all.retain(|_, own| own.strong_count() > 0);
        let own = Arc::new(Semaphore::new(self.each));
        all.insert(key.clone(), Arc::downgrade(&own));
        own
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use futures_util::{FutureExt, future::LocalBoxFuture};
    use tokio::task::yield_now;

    use super::*;

    /// The keys in the order in which their work was done.
    fn order(at_once: usize, keys: &[&str]) -> String {
        let (semaphore, done) = (FairSemaphore::new(at_once, 1), Mutex::new(String::new()));
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
        assert!(semaphore.own.lock().unwrap().values().all(|own| own.strong_count() == 0));
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
        assert_eq!(semaphore.own.lock().unwrap().len(), 1);
    }
}
