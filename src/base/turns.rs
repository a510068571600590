//! Turns at work that takes long: each holder does a few at a time and all together some more, in the order in which
//! holders came to their next. However much one of them has to do, another waits for few works of it.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

#[derive(Debug)]
pub struct Turns<K> {
    all: Arc<Semaphore>,
    each: usize,
    /// The turns of each holder that has or awaits one.
    own: Mutex<HashMap<K, Weak<Semaphore>>>,
}

/// A turn. Dropped, it is over.
#[derive(Debug)]
pub struct Turn {
    _all: OwnedSemaphorePermit,
    _own: Option<OwnedSemaphorePermit>,
}

impl<K: Clone + Eq + Hash> Turns<K> {
    /// So many at once, and of each holder so many.
    pub fn new(at_once: usize, each: usize) -> Self {
        Self { all: Arc::new(Semaphore::new(at_once)), each, own: Mutex::default() }
    }

    /// Begins a holder's turn when it comes. Without a holder only the turns of all count.
    ///
    /// # Panics
    /// Never: nobody closes a semaphore.
    pub async fn begin(&self, holder: Option<&K>) -> Turn {
        let own = match holder {
            Some(holder) => Some(self.own(holder).acquire_owned().await.expect("nobody closes it")),
            None => None,
        };
        // Waited for in order, by few works of each holder.
        let all = Arc::clone(&self.all).acquire_owned().await.expect("nobody closes it");
        Turn { _all: all, _own: own }
    }

    /// Does a holder's work when it is its turn.
    pub async fn take<T>(&self, holder: Option<&K>, work: impl Future<Output = T>) -> T {
        let _turn = self.begin(holder).await;
        work.await
    }

    fn own(&self, holder: &K) -> Arc<Semaphore> {
        let mut all = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = all.get(holder).and_then(Weak::upgrade) {
            return own;
        }
        all.retain(|_, own| own.strong_count() > 0);
        let own = Arc::new(Semaphore::new(self.each));
        all.insert(holder.clone(), Arc::downgrade(&own));
        own
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use futures_util::{FutureExt, future::LocalBoxFuture};
    use tokio::task::yield_now;

    use super::*;

    /// Who has done a work, in order: of these holders, each with one that has asked for its turn in this order.
    fn order(at_once: usize, holders: &[&str]) -> String {
        let (turns, done) = (Turns::new(at_once, 1), Mutex::new(String::new()));
        let work = async |id: &str| {
            yield_now().await;
            done.lock().unwrap().push_str(id);
        };
        let (turns, work) = (&turns, &work);
        let asked = holders.iter().map(|id| {
            let take: LocalBoxFuture<'_, ()> = Box::pin(async move { turns.take(Some(&id), work(id)).await });
            take
        });
        let mut waiting: Vec<_> = asked.collect();
        while !waiting.is_empty() {
            waiting.retain_mut(|take| take.now_or_never().is_none());
        }
        assert!(turns.own.lock().unwrap().values().all(|own| own.strong_count() == 0));
        drop(waiting);
        done.into_inner().unwrap()
    }

    #[test]
    fn one_holders_flood_keeps_nobody_waiting_for_more_than_one_work_of_it() {
        assert_eq!(order(1, &["a", "a", "a", "b"]), "abaa");
        assert_eq!(order(1, &["a", "a", "b", "b", "c"]), "abcab");
        assert_eq!(order(2, &["a", "a", "a", "b", "c"]), "abcaa");
    }

    #[test]
    fn a_holder_has_at_most_its_own_turns_at_once() {
        let turns = Turns::new(4, 2);
        let begin = |holder| turns.begin(Some(holder)).now_or_never();
        let held = [begin(&"a"), begin(&"a")];
        assert!(held.iter().all(Option::is_some) && begin(&"a").is_none());
        assert!(begin(&"b").is_some());
        drop(held);
        assert!(begin(&"a").is_some());
    }

    #[test]
    fn who_waits_for_nothing_any_more_leaves_no_trace() {
        let turns = Turns::new(1, 1);
        let (holding, waiting) = ("a", "b");
        let mut held = Box::pin(turns.take(Some(&holding), pending::<()>()));
        assert!(held.as_mut().now_or_never().is_none());
        assert!(turns.take(Some(&waiting), async {}).now_or_never().is_none());
        drop(held);
        assert!(turns.take(Some(&waiting), async {}).now_or_never().is_some());
        assert!(turns.take(None, async {}).now_or_never().is_some());
        assert_eq!(turns.own.lock().unwrap().len(), 1);
    }
}
