//! A flight: the work of a call with a `request_id`, in a task of its own, with any number of callers waiting for it.
//!
//! A flight that writes outlives its callers, at most until the server's cap. One that only reads is cancelled when
//! its last caller leaves. What is known of a key here and in the store changes only in the key's turn, so that two
//! callers at the same instant never see half of a change.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use tokio::sync::{Mutex as AsyncMutex, MutexGuard as Turn, watch};

use crate::{
    context::{Cancellation, StopCause},
    contract::{Refusal, Terminal},
    store::idempotency::Key,
};

/// How a flight ended.
pub type Landed = Result<Terminal, Refusal>;

/// So many keys can have their turn at once.
const TURNS: usize = 64;

/// The flights under way. Cloning it makes another handle of the same.
#[derive(Clone, Debug)]
pub struct Flights {
    list: Arc<Mutex<HashMap<Key, Listed>>>,
    turns: Arc<[AsyncMutex<()>; TURNS]>,
}

/// A caller's view of a flight; it counts as a waiter until it is dropped.
#[derive(Debug)]
pub struct Flight {
    landed: watch::Receiver<Option<Landed>>,
    waiters: Arc<Waiters>,
}

/// The flight's own end, held by its task.
#[derive(Debug)]
pub struct Pilot {
    key: Key,
    flights: Flights,
    landing: watch::Sender<Option<Landed>>,
}

#[derive(Debug)]
struct Listed {
    landed: watch::Receiver<Option<Landed>>,
    /// The list does not count as a waiter.
    waiters: Weak<Waiters>,
    cancellation: Cancellation,
    outlives_callers: bool,
}

/// Shared by all who wait. Dropped by the last.
#[derive(Debug)]
struct Waiters {
    cancellation: Cancellation,
    outlives_callers: bool,
}

impl Default for Flights {
    fn default() -> Self {
        let turns = std::array::from_fn(|_| AsyncMutex::new(()));
        Self { list: Arc::default(), turns: Arc::new(turns) }
    }
}

impl Flights {
    /// Waits for the key's turn; it lasts until the guard is dropped.
    pub async fn turn(&self, key: &Key) -> Turn<'_, ()> {
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        #[allow(clippy::cast_possible_truncation, reason = "a remainder of a small number")]
        let index = (hasher.finish() % TURNS as u64) as usize;
        self.turns[index].lock().await
    }

    /// Begins a flight. The pilot goes to its task.
    pub fn begin(&self, key: Key, cancellation: Cancellation, outlives_callers: bool) -> (Pilot, Flight) {
        let (landing, landed) = watch::channel(None);
        let waiters = Waiters::of(&cancellation, outlives_callers);
        let listed = Listed {
            landed: landed.clone(),
            waiters: Arc::downgrade(&waiters),
            cancellation,
            outlives_callers,
        };
        self.lock().insert(key.clone(), listed);
        (Pilot { key, flights: self.clone(), landing }, Flight { landed, waiters })
    }

    /// Joins the flight of the key, if it is under way.
    pub fn join(&self, key: &Key) -> Option<Flight> {
        let mut flights = self.lock();
        let listed = flights.get_mut(key)?;
        let waiters = match listed.waiters.upgrade() {
            Some(waiters) => waiters,
            // Nobody waits any more: a flight that only reads is over, one that writes can be joined again.
            None if listed.outlives_callers => Waiters::of(&listed.cancellation, true),
            None => return None,
        };
        listed.waiters = Arc::downgrade(&waiters);
        Some(Flight { landed: listed.landed.clone(), waiters })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Listed>> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Flight {
    /// Waits for the end. `None` if the flight was lost.
    pub async fn landed(&mut self) -> Option<Landed> {
        self.landed.wait_for(Option::is_some).await.ok()?.clone()
    }

    /// What a caller's `CancelCall` is passed on to. Work that only reads may have others who wait for it.
    pub fn cancellation(&self) -> Option<Cancellation> {
        self.waiters.outlives_callers.then(|| self.waiters.cancellation.clone())
    }
}

impl Pilot {
    /// Whether this is the flight of its key: one that nobody waited for may have been begun anew.
    pub fn is_listed(&self) -> bool {
        self.flights.lock().get(&self.key).is_some_and(|listed| self.is_of(listed))
    }

    /// Ends the flight for everyone who waits.
    pub fn land(self, landed: Landed) {
        self.landing.send_replace(Some(landed));
    }

    fn is_of(&self, listed: &Listed) -> bool {
        self.landing.subscribe().same_channel(&listed.landed)
    }
}

impl Waiters {
    fn of(cancellation: &Cancellation, outlives_callers: bool) -> Arc<Self> {
        Arc::new(Self { cancellation: cancellation.clone(), outlives_callers })
    }
}

impl Drop for Waiters {
    fn drop(&mut self) {
        if !self.outlives_callers {
            self.cancellation.cancel(StopCause::CallerGone);
        }
    }
}

impl Drop for Pilot {
    fn drop(&mut self) {
        let mut flights = self.flights.lock();
        if flights.get(&self.key).is_some_and(|listed| self.is_of(listed)) {
            flights.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> Key {
        Key {
            user: "demo".parse().expect("valid"),
            tool: "debug_sleep".to_owned(),
            request_id: crate::context::RequestId::generate(),
        }
    }

    #[test]
    fn an_abandoned_flight_that_lands_late_leaves_its_successor_alone() {
        let (flights, key) = (Flights::default(), key());
        let (abandoned, waiter) = flights.begin(key.clone(), Cancellation::new(), false);
        drop(waiter);
        assert!(flights.join(&key).is_none(), "an abandoned read is over");
        let (successor, _waiter) = flights.begin(key.clone(), Cancellation::new(), false);
        assert!(!abandoned.is_listed());
        drop(abandoned);
        assert!(successor.is_listed());
        assert!(flights.join(&key).is_some());
    }
}
