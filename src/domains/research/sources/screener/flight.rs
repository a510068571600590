//! Flights: at most one scrape a user at a time; calls that come meanwhile share it.
//!
//! It is polled by those who wait for it, and ends when the last of them leaves.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures_util::{
    FutureExt,
    future::{BoxFuture, Shared, WeakShared},
};
use tokio::{select, sync::watch};

use crate::context::{EventSink, UserId};

type Landing<T> = BoxFuture<'static, Arc<T>>;

/// The flights that are under way.
pub(super) struct Flights<T>(Arc<Mutex<Table<T>>>);

struct Table<T> {
    of_users: HashMap<UserId, Entry<T>>,
    begun: u64,
}

struct Entry<T> {
    number: u64,
    landing: WeakShared<Landing<T>>,
    progress: watch::Receiver<String>,
}

/// A flight, as one of those who wait for it sees it.
pub(super) struct Flight<T> {
    landing: Shared<Landing<T>>,
    progress: watch::Receiver<String>,
}

/// Says how far a flight is, to all who wait for it.
pub(super) struct Progress(watch::Sender<String>);

impl<T: Send + Sync + 'static> Flights<T> {
    /// The user's flight, or a new one.
    pub(super) fn join<F>(&self, user: &UserId, begin: impl FnOnce(Progress) -> F) -> Flight<T>
    where
        F: Future<Output = T> + Send + 'static,
    {
        let mut table = self.table();
        if let Some(flight) = table.of_users.get(user).and_then(Entry::joined) {
            return flight;
        }
        table.begun += 1;
        let number = table.begun;
        let (sender, progress) = watch::channel(String::new());
        let work = begin(Progress(sender));
        let over = Over { flights: Self(Arc::clone(&self.0)), user: user.clone(), number };
        let landing = async move {
            let landed = Arc::new(work.await);
            drop(over);
            landed
        };
        let landing = landing.boxed().shared();
        if let Some(weak) = landing.downgrade() {
            table.of_users.insert(user.clone(), Entry { number, landing: weak, progress: progress.clone() });
        }
        Flight { landing, progress }
    }

    fn table(&self) -> MutexGuard<'_, Table<T>> {
        // Whoever panicked left a complete table.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Flight<T> {
    /// What came of it. Says meanwhile how far it is.
    pub(super) async fn landed(mut self, events: &EventSink) -> Arc<T> {
        loop {
            select! {
                biased;
                landed = &mut self.landing => return landed,
                Ok(()) = self.progress.changed() => {
                    let message = self.progress.borrow_and_update().clone();
                    events.progress(None, message);
                }
            }
        }
    }
}

impl Progress {
    pub(super) fn say(&self, message: String) {
        // Nobody may be listening any more.
        let _ = self.0.send(message);
    }
}

impl<T> Entry<T> {
    fn joined(&self) -> Option<Flight<T>> {
        Some(Flight { landing: self.landing.upgrade()?, progress: self.progress.clone() })
    }
}

/// Takes a flight off the table, whether it has landed or was left by all.
struct Over<T: Send + Sync + 'static> {
    flights: Flights<T>,
    user: UserId,
    number: u64,
}

impl<T: Send + Sync + 'static> Drop for Over<T> {
    fn drop(&mut self) {
        let mut table = self.flights.table();
        // The next one may have begun already.
        if table.of_users.get(&self.user).is_some_and(|entry| entry.number == self.number) {
            table.of_users.remove(&self.user);
        }
    }
}

impl<T> Default for Flights<T> {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Table { of_users: HashMap::new(), begun: 0 })))
    }
}

impl<T> fmt::Debug for Flights<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Flights")
    }
}

#[cfg(test)]
mod tests {
    use std::{
        future::pending,
        sync::atomic::{AtomicUsize, Ordering},
    };

    use futures_util::{future::join, poll};
    use tokio::sync::oneshot;

    use super::*;
    use crate::contract::Event;

    fn user(name: &str) -> UserId {
        name.parse().unwrap()
    }

    #[tokio::test]
    async fn equal_calls_share_one_flight_and_hear_how_far_it_is() {
        let flights = Flights::default();
        let begun = AtomicUsize::new(0);
        let (land, landing) = oneshot::channel::<u32>();
        let mut landing = Some(landing);
        let first = flights.join(&user("demo"), |progress| {
            begun.fetch_add(1, Ordering::Relaxed);
            progress.say("half".to_owned());
            let landing = landing.take().unwrap();
            async move {
                let _progress = progress;
                landing.await.unwrap()
            }
        });
        let second = flights.join(&user("demo"), |_| {
            begun.fetch_add(1, Ordering::Relaxed);
            pending()
        });
        let (sink, mut events) = EventSink::channel();
        let silent = EventSink::discarding();
        let mut both = std::pin::pin!(join(first.landed(&silent), second.landed(&sink)));
        assert!(poll!(&mut both).is_pending());
        land.send(7).unwrap();
        assert_eq!(both.await, (Arc::new(7), Arc::new(7)));
        assert_eq!(begun.load(Ordering::Relaxed), 1);
        assert!(matches!(events.recv().await, Some(Event::Progress { message, .. }) if message == "half"));
    }

    #[tokio::test]
    async fn a_flight_goes_on_without_the_one_who_began_it() {
        let flights = Flights::default();
        let (land, landing) = oneshot::channel::<u32>();
        let first = flights.join(&user("demo"), |_| async { landing.await.unwrap() });
        let second = flights.join(&user("demo"), |_| pending());
        let sink = EventSink::discarding();
        let mut first = Box::pin(first.landed(&sink));
        assert!(poll!(&mut first).is_pending());
        drop(first);
        land.send(7).unwrap();
        assert_eq!(second.landed(&sink).await, Arc::new(7));
    }

    #[tokio::test]
    async fn a_flight_that_all_have_left_ends_and_the_next_call_begins_another() {
        struct Ended(Arc<AtomicUsize>);
        impl Drop for Ended {
            fn drop(&mut self) {
                self.0.fetch_add(1, Ordering::Relaxed);
            }
        }
        let flights = Flights::<u32>::default();
        let ended = Arc::new(AtomicUsize::new(0));
        let guard = Ended(Arc::clone(&ended));
        let left = flights.join(&user("demo"), |_| async move {
            let _guard = guard;
            pending().await
        });
        let sink = EventSink::discarding();
        let mut left = Box::pin(left.landed(&sink));
        assert!(poll!(&mut left).is_pending());
        drop(left);
        assert_eq!(ended.load(Ordering::Relaxed), 1);
        assert!(flights.table().of_users.is_empty());
        let next = flights.join(&user("demo"), |_| async { 8 });
        assert_eq!(next.landed(&sink).await, Arc::new(8));
        assert!(flights.table().of_users.is_empty());
    }

    #[tokio::test]
    async fn users_never_share_a_flight() {
        let flights = Flights::default();
        let sink = EventSink::discarding();
        let demo = flights.join(&user("demo"), |_| async { 1 });
        let riley = flights.join(&user("riley"), |_| async { 2 });
        assert_eq!((demo.landed(&sink).await, riley.landed(&sink).await), (Arc::new(1), Arc::new(2)));
    }
}
