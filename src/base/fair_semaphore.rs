//! A semaphore with a limit for each key and one for all keys together, fair among keys. A released permit goes to the
//! key that holds least ([`FairQueue`]), so a key with many waiters delays another by one permit.

use std::{
    hash::Hash,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::oneshot;

use crate::fair_queue::{FairQueue, Ticket};

#[derive(Debug)]
pub struct FairSemaphore<K: Clone + Eq + Hash>(Arc<Shared<K>>);

#[derive(Debug)]
struct Shared<K> {
    permits: usize,
    per_key: usize,
    state: Mutex<State<K>>,
}

#[derive(Debug)]
struct State<K> {
    free: usize,
    /// Waiters without a key share the key `None`, whose limit is that of all keys together.
    queue: FairQueue<Option<K>, oneshot::Sender<()>>,
}

/// Released when it is dropped.
#[derive(Debug)]
pub struct Permit<K: Clone + Eq + Hash>(Holder<K>);

/// The holder of a permit, or a key that waits for one.
#[derive(Clone, Debug)]
struct Holder<K> {
    semaphore: Arc<Shared<K>>,
    key: Option<K>,
}

/// A place in the queue. When it is dropped, it is given up, and the permit with it if it was granted meanwhile.
struct Waiting<K: Clone + Eq + Hash> {
    holder: Holder<K>,
    ticket: Ticket,
    granted: oneshot::Receiver<()>,
    is_taken: bool,
}

impl<K: Clone + Eq + Hash> FairSemaphore<K> {
    /// A semaphore of `permits` in all, and at most `per_key` of them for one key.
    pub fn new(permits: usize, per_key: usize) -> Self {
        let state = Mutex::new(State { free: permits, queue: FairQueue::default() });
        Self(Arc::new(Shared { permits, per_key, state }))
    }

    /// The permits that are free, of those of all keys.
    pub fn available_permits(&self) -> usize {
        self.0.lock().free
    }

    /// How many wait for a permit of a key.
    pub fn waiting(&self, key: &K) -> usize {
        self.0.lock().queue.waiting(&Some(key.clone()))
    }

    /// A permit of a key, if one is free for it.
    pub fn try_acquire(&self, key: Option<&K>) -> Option<Permit<K>> {
        Holder { semaphore: Arc::clone(&self.0), key: key.cloned() }.take(&mut self.0.lock()).ok()
    }

    /// Waits for a permit of a key. Without a key only the limit of all counts.
    pub async fn acquire(&self, key: Option<&K>) -> Permit<K> {
        let mut waiting = match self.enter(key.cloned()) {
            Ok(permit) => return permit,
            Err(waiting) => waiting,
        };
        // The queue drops no sender of one that waits.
        let _ = (&mut waiting.granted).await;
        waiting.is_taken = true;
        Permit(waiting.holder.clone())
    }

    /// Waits for a permit of a key, and runs a future with it.
    pub async fn run<T>(&self, key: Option<&K>, work: impl Future<Output = T>) -> T {
        let _permit = self.acquire(key).await;
        work.await
    }

    /// A permit, or a place in the queue.
    fn enter(&self, key: Option<K>) -> Result<Permit<K>, Waiting<K>> {
        let mut state = self.0.lock();
        let holder = match (Holder { semaphore: Arc::clone(&self.0), key }).take(&mut state) {
            Ok(permit) => return Ok(permit),
            Err(holder) => holder,
        };
        let (grant, granted) = oneshot::channel();
        let ticket = state.queue.push(&holder.key, grant);
        Err(Waiting { holder, ticket, granted, is_taken: false })
    }
}

impl<K: Clone + Eq + Hash> Holder<K> {
    /// Takes a permit, if one is free.
    fn take(self, state: &mut State<K>) -> Result<Permit<K>, Self> {
        let limit = self.semaphore.limit(self.key.as_ref());
        // One that waits while permits are free has as many as it may have: it is not overtaken.
        if state.free == 0 || state.queue.held(&self.key) >= limit {
            return Err(self);
        }
        state.free -= 1;
        state.queue.hold(&self.key);
        Ok(Permit(self))
    }

    /// Gives a permit back, which goes to the next one that waits.
    fn release(&self) {
        let mut state = self.semaphore.lock();
        state.queue.release(&self.key);
        state.free += 1;
        while state.free > 0
            && let Some((key, waiter)) = state.queue.pop(|key| self.semaphore.limit(key.as_ref()), |_| true)
        {
            match waiter.send(()) {
                Ok(()) => state.free -= 1,
                Err(()) => state.queue.release(&key),
            }
        }
    }
}

impl<K: Clone + Eq + Hash> Shared<K> {
    fn limit(&self, key: Option<&K>) -> usize {
        if key.is_some() { self.per_key } else { self.permits }
    }

    fn lock(&self) -> MutexGuard<'_, State<K>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Clone + Eq + Hash> Drop for Permit<K> {
    fn drop(&mut self) {
        self.0.release();
    }
}

impl<K: Clone + Eq + Hash> Drop for Waiting<K> {
    fn drop(&mut self) {
        // Granted under the same lock: what is in the queue no more was granted.
        let Holder { semaphore, key } = &self.holder;
        if !self.is_taken && semaphore.lock().queue.cancel(key, self.ticket).is_none() {
            self.holder.release();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use futures_util::{FutureExt, future::LocalBoxFuture};
    use tokio::task::yield_now;

    use super::*;

    /// The keys in the order in which their work was done.
    fn order(permits: usize, per_key: usize, keys: &[&str]) -> String {
        let (semaphore, done) = (FairSemaphore::new(permits, per_key), Mutex::new(String::new()));
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
        assert!(semaphore.0.lock().queue.is_unused());
        drop(waiting);
        done.into_inner().unwrap()
    }

    #[test]
    fn a_flood_of_one_key_delays_others_by_one_permit() {
        assert_eq!(order(1, 1, &["a", "a", "a", "b"]), "abaa");
        assert_eq!(order(1, 1, &["a", "a", "b", "b", "c"]), "abcab");
        assert_eq!(order(2, 1, &["a", "a", "a", "b", "c"]), "abcaa");
        assert_eq!(order(2, 2, &["a", "a", "a", "a", "b", "b"]), "aaabab", "the one that holds least");
    }

    #[test]
    fn a_key_has_at_most_its_limit() {
        let semaphore = FairSemaphore::new(4, 2);
        let acquire = |key| semaphore.acquire(Some(key)).now_or_never();
        let held = [acquire(&"a"), acquire(&"a")];
        assert!(held.iter().all(Option::is_some) && acquire(&"a").is_none());
        let other = acquire(&"b");
        assert!(other.is_some());
        drop(held);
        assert!(acquire(&"a").is_some());
    }

    #[test]
    fn those_without_a_key_may_have_all() {
        let semaphore = FairSemaphore::<&str>::new(3, 1);
        let held: Vec<_> = (0..3).map(|_| semaphore.acquire(None).now_or_never()).collect();
        assert!(held.iter().all(Option::is_some) && semaphore.acquire(None).now_or_never().is_none());
        assert_eq!(semaphore.available_permits(), 0);
        drop(held);
        assert_eq!(semaphore.available_permits(), 3);
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
        assert!(semaphore.0.lock().queue.is_unused());
    }

    #[test]
    fn a_permit_that_is_granted_to_one_that_has_gone_goes_to_the_next() {
        let semaphore = FairSemaphore::new(1, 1);
        let held = semaphore.acquire(Some(&"a")).now_or_never();
        let mut waits = ["b", "c"].map(|key| {
            let semaphore = &semaphore;
            Box::pin(async move { semaphore.acquire(Some(&key)).await })
        });
        assert!(waits.iter_mut().all(|wait| wait.as_mut().now_or_never().is_none()));
        drop(held);
        let [granted, mut next] = waits;
        drop(granted);
        assert!(next.as_mut().now_or_never().is_some());
    }
}
