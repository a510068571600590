//! Everybody who waits for one piece of work: what it says reaches each of them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::select_all;
use tokio::{
    sync::mpsc::{Sender, error::TrySendError},
    task::yield_now,
};

use crate::contract::Event;

/// The readers of one piece of work. Cloning it makes another handle of the same.
#[derive(Clone, Debug, Default)]
pub struct Audience(Arc<Mutex<Vec<Sender<Event>>>>);

impl Audience {
    /// One reader more, who hears what is said from now on.
    pub(super) fn admit(&self, reader: Sender<Event>) {
        self.present().push(reader);
    }

    /// Whether there is anybody.
    pub(super) fn is_empty(&self) -> bool {
        self.present().is_empty()
    }

    /// Says something to those who are not too slow to take it now.
    pub(super) fn offer(&self, event: &Event) {
        for reader in self.present().iter() {
            let _ = reader.try_send(event.clone());
        }
    }

    /// Hands something over at the pace of the fastest reader: none holds up another. What a slower one misses is in
    /// the result.
    pub(super) async fn deliver(&self, event: Event) {
        let readers = self.present().clone();
        let mut slow = Vec::new();
        for reader in &readers {
            if let Err(TrySendError::Full(_)) = reader.try_send(event.clone()) {
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
        let (permit, ..) = select_all(slow.into_iter().map(|reader| Box::pin(reader.reserve()))).await;
        if let Ok(permit) = permit {
            permit.send(event);
        }
    }

    /// Those who have not left.
    fn present(&self) -> MutexGuard<'_, Vec<Sender<Event>>> {
        let mut readers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        readers.retain(|reader| !reader.is_closed());
        readers
    }
}
