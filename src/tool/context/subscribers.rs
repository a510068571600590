//! Fan-out of the events of shared work: each event reaches all of its readers.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::select_all;
use tokio::task::yield_now;

use super::reader::{NotSent, Reader};
use toolwire_contract::Event;

/// The readers. Cheap to clone; clones share state.
#[derive(Clone, Debug, Default)]
pub struct Subscribers(Arc<Mutex<Vec<Subscriber>>>);

#[derive(Clone, Debug)]
struct Subscriber {
    reader: Reader,
    /// Whether it gets progress alone: it waits for another call, of which this work is a part.
    is_follower: bool,
}

impl Subscribers {
    /// Adds a reader, which gets the events from now on.
    pub(super) fn add(&self, reader: Reader) {
        self.lock_live().push(Subscriber { reader, is_follower: false });
    }

    /// Adds a reader, which gets progress alone from now on.
    pub(super) fn add_follower(&self, reader: Reader) {
        self.lock_live().push(Subscriber { reader, is_follower: true });
    }

    /// Lets the readers of this work follow the progress of another.
    pub(super) fn follow(&self, other: &Self) {
        // Collected, so that the two locks are never held at once.
        let readers: Vec<_> = self.lock_live().iter().map(|subscriber| subscriber.reader.clone()).collect();
        for reader in readers {
            other.add_follower(reader);
        }
    }

    /// Whether every reader is gone.
    pub(super) fn is_empty(&self) -> bool {
        self.lock_live().is_empty()
    }

    /// Sends an event to the readers that have room for it now.
    pub(super) fn try_send(&self, event: &Event) {
        let is_progress = matches!(event, Event::Progress { .. });
        for subscriber in self.lock_live().iter().filter(|it| is_progress || !it.is_follower) {
            let _ = subscriber.reader.try_send(event);
        }
    }

    /// Sends an event at the pace of the fastest reader, so that none holds up another. What a slower one misses is in
    /// the result.
    pub(super) async fn send(&self, event: Event) {
        // Cloned, so that the lock is not held while waiting for a slow reader.
        let readers: Vec<_> =
            self.lock_live().iter().filter(|it| !it.is_follower).map(|it| it.reader.clone()).collect();
        let mut slow = Vec::new();
        for reader in &readers {
            if reader.try_send(&event) == Err(NotSent::Full) {
                slow.push(reader);
            }
        }
        if slow.len() < readers.len() {
            return;
        }
        if slow.is_empty() {
            // No reader is left, and nothing above suspended: yield, so that the work can be cancelled before it runs
            // to its end.
            return yield_now().await;
        }
        let _ = select_all(slow.into_iter().map(|reader| Box::pin(reader.send(event.clone())))).await;
    }

    /// Locks the list and removes the readers that are gone.
    fn lock_live(&self) -> MutexGuard<'_, Vec<Subscriber>> {
        let mut readers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        readers.retain(|subscriber| !subscriber.reader.is_closed());
        readers
    }
}
