//! Fan-out of the events of shared work: each event reaches all of its readers.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::select_all;
use tokio::task::yield_now;

use super::reader::{NotTaken, Reader};
use toolwire_contract::Event;

/// The readers. Cheap to clone; clones share state.
#[derive(Clone, Debug, Default)]
pub struct Subscribers(Arc<Mutex<Vec<Subscriber>>>);

#[derive(Clone, Debug)]
struct Subscriber {
    reader: Reader,
    /// Whether it only wants to know how far the work is: it waits for a call that this work is a part of.
    is_follower: bool,
}

impl Subscribers {
    /// Adds a reader, who gets the events from now on.
    pub(super) fn add(&self, reader: Reader) {
        self.present().push(Subscriber { reader, is_follower: false });
    }

    /// Adds a reader, who hears from now on how far the work is.
    pub(super) fn add_follower(&self, reader: Reader) {
        self.present().push(Subscriber { reader, is_follower: true });
    }

    /// Lets the readers of this work hear how far another is.
    pub(super) fn follow(&self, other: &Self) {
        let readers: Vec<_> = self.present().iter().map(|subscriber| subscriber.reader.clone()).collect();
        for reader in readers {
            other.add_follower(reader);
        }
    }

    /// Whether every reader has left.
    pub(super) fn is_empty(&self) -> bool {
        self.present().is_empty()
    }

    /// Sends an event to the readers that have room for it now.
    pub(super) fn try_send(&self, event: &Event) {
        let is_progress = matches!(event, Event::Progress { .. });
        for subscriber in self.present().iter().filter(|it| is_progress || !it.is_follower) {
            let _ = subscriber.reader.try_send(event);
        }
    }

    /// Sends an event at the pace of the fastest reader, so that none holds up another. What a slower one misses is in
    /// the result.
    pub(super) async fn send(&self, event: Event) {
        let readers: Vec<_> =
            self.present().iter().filter(|it| !it.is_follower).map(|it| it.reader.clone()).collect();
        let mut slow = Vec::new();
        for reader in &readers {
            if reader.try_send(&event) == Err(NotTaken::Full) {
                slow.push(reader);
            }
        }
        if slow.len() < readers.len() {
            return;
        }
        if slow.is_empty() {
            // Lets those who watch over the work notice before it runs on to its end.
            return yield_now().await;
        }
        let _ = select_all(slow.into_iter().map(|reader| Box::pin(reader.send(event.clone())))).await;
    }

    /// The readers that have not left.
    fn present(&self) -> MutexGuard<'_, Vec<Subscriber>> {
        let mut readers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        readers.retain(|subscriber| !subscriber.reader.is_gone());
        readers
    }
}
