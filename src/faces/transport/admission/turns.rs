//! Turns at work that takes long: each holder does one at a time and all together a few, in the order in which holders
//! came to their next. However much one of them has to do, another waits for one work of each at most.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use tokio::sync::Semaphore;

use crate::faces::transport::shares::Holder;

/// Turns of all holders.
#[derive(Debug)]
pub(super) struct Turns {
    all: Semaphore,
    /// The turn of each holder that has or awaits one.
    own: Mutex<HashMap<Holder, Weak<Semaphore>>>,
}

impl Turns {
    /// So many at once.
    pub(super) fn new(at_once: usize) -> Self {
        Self { all: Semaphore::new(at_once), own: Mutex::default() }
    }

    /// Does a holder's work when it is its turn. Without a holder only the turns of all count.
    pub(super) async fn take<T>(&self, holder: Option<&Holder>, work: impl Future<Output = T>) -> T {
        let own = holder.map(|holder| self.own(holder));
        let _own = match &own {
            Some(own) => Some(own.acquire().await.expect("nobody closes it")),
            None => None,
        };
        // Waited for in order, by one work of each holder.
        let _turn = self.all.acquire().await.expect("nobody closes it");
        work.await
    }

    fn own(&self, holder: &Holder) -> Arc<Semaphore> {
        let mut all = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = all.get(holder).and_then(Weak::upgrade) {
            return own;
        }
        all.retain(|_, own| own.strong_count() > 0);
        let own = Arc::new(Semaphore::new(1));
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

    fn user(id: &str) -> Holder {
        Holder::User(id.parse().unwrap())
    }

    /// Who has done a work, in order: of these holders, each with one that has asked for its turn in this order.
    fn order(at_once: usize, holders: &[&str]) -> String {
        let (turns, done) = (Turns::new(at_once), Mutex::new(String::new()));
        let work = async |id: &str| {
            yield_now().await;
            done.lock().unwrap().push_str(id);
        };
        let (turns, work) = (&turns, &work);
        let asked = holders.iter().map(|id| {
            let take: LocalBoxFuture<'_, ()> =
                Box::pin(async move { turns.take(Some(&user(id)), work(id)).await });
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
    fn who_waits_for_nothing_any_more_leaves_no_trace() {
        let turns = Turns::new(1);
        let (holding, waiting) = (user("a"), user("b"));
        let mut held = Box::pin(turns.take(Some(&holding), pending::<()>()));
        assert!(held.as_mut().now_or_never().is_none());
        assert!(turns.take(Some(&waiting), async {}).now_or_never().is_none());
        drop(held);
        assert!(turns.take(Some(&waiting), async {}).now_or_never().is_some());
        assert!(turns.take(None, async {}).now_or_never().is_some());
        assert_eq!(turns.own.lock().unwrap().len(), 1);
    }
}
