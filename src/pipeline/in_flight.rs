//! The calls that are running now, so that `CancelCall` finds them.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
};

use tokio::sync::Notify;

use crate::context::{CallId, Cancellation, Pins, RequestId, StopCause, UserId};

/// The running calls. Cheap to clone; clones share state.
#[derive(Clone, Debug, Default)]
pub struct InFlight {
    running: Arc<Mutex<Running>>,
    emptied: Arc<Notify>,
}

#[derive(Debug, Default)]
struct Running {
    next: u64,
    entries: HashMap<u64, Entry>,
}

#[derive(Debug)]
struct Entry {
    user: UserId,
    call_id: CallId,
    request_id: Option<RequestId>,
    cancellation: Cancellation,
    pins: Pins,
}

/// Whether a call, or one that it made, may have asked a person.
#[derive(Debug, Default)]
pub(super) struct Asked(AtomicBool);

/// Calls that were cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancelled {
    /// Whether one of them may have asked a person, who need not decide any more.
    pub may_have_asked: bool,
}

/// Keeps a call in the list for as long as it runs.
#[derive(Debug)]
pub struct Guard {
    in_flight: InFlight,
    key: u64,
}

/// Which call to cancel.
#[derive(Clone, Copy, Debug)]
pub enum Which {
    /// The call of this id.
    Call(CallId),
    /// The call that was made with this identifier.
    Request(RequestId),
}

impl InFlight {
    /// Lists a call until the guard is dropped.
    pub fn enter(
        &self,
        user: UserId,
        call_id: CallId,
        request_id: Option<RequestId>,
        cancellation: Cancellation,
        pins: Pins,
    ) -> Guard {
        let mut running = self.lock();
        let key = running.next;
        running.next += 1;
        running.entries.insert(key, Entry { user, call_id, request_id, cancellation, pins });
        Guard { in_flight: self.clone(), key }
    }

    /// Cancels a user's own call; `None` if there is none.
    pub fn cancel(&self, user: &UserId, which: Which) -> Option<Cancelled> {
        let running = self.lock();
        let is_meant = |entry: &&Entry| entry.user == *user && entry.is(which);
        let asked = running.entries.values().filter(is_meant).map(|entry| {
            // First: whoever is about to ask marks that first, and then looks whether it is cancelled.
            entry.cancellation.cancel(StopCause::Cancelled);
            Asked::of(&entry.pins).0.load(SeqCst)
        });
        let may_have_asked = asked.reduce(|one, other| one | other)?;
        Some(Cancelled { may_have_asked })
    }

    /// Tells every call that the server is forced to end.
    pub fn shut_down(&self) {
        for entry in self.lock().entries.values() {
            entry.cancellation.cancel(StopCause::Shutdown);
        }
    }

    /// Waits until no call is running.
    pub async fn emptied(&self) {
        loop {
            let emptied = self.emptied.notified();
            if self.is_empty() {
                return;
            }
            emptied.await;
        }
    }

    /// How many calls are running.
    pub fn len(&self) -> usize {
        self.lock().entries.len()
    }

    /// Whether no call is running.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn lock(&self) -> MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Asked {
    /// That of the call of these pins and of all that it makes.
    pub(super) fn of(pins: &Pins) -> Arc<Self> {
        pins.get_or_pin(Arc::default)
    }

    /// A person is about to be asked.
    pub(super) fn mark(&self) {
        self.0.store(true, SeqCst);
    }
}

impl Entry {
    fn is(&self, which: Which) -> bool {
        match which {
            Which::Call(call_id) => self.call_id == call_id,
            Which::Request(request_id) => self.request_id == Some(request_id),
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let mut running = self.in_flight.lock();
        running.entries.remove(&self.key);
        if running.entries.is_empty() {
            self.in_flight.emptied.notify_waiters();
        }
    }
}
