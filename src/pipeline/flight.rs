//! A flight: the work of a call with a `request_id`, in a task of its own, with any number of callers waiting for it.
//!
//! A flight that writes outlives its callers, at most until the server's cap. One that only reads is cancelled when
//! its last caller leaves.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use tokio::sync::watch;

use crate::{
    context::{Cancellation, StopCause},
    contract::{Refusal, Terminal},
    store::idempotency::Key,
};

/// How a flight ended.
pub type Landed = Result<Terminal, Refusal>;

/// The flights under way. Cloning it makes another handle of the same.
#[derive(Clone, Debug, Default)]
pub struct Flights(Arc<Mutex<HashMap<Key, Listed>>>);

/// A caller's view of a flight; it counts as a waiter until it is dropped.
#[derive(Debug)]
pub struct Flight {
    landed: watch::Receiver<Option<Landed>>,
    _waiters: Arc<Waiters>,
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
    cancellation: Option<Cancellation>,
}

impl Flights {
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
        (Pilot { key, flights: self.clone(), landing }, Flight { landed, _waiters: waiters })
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
        Some(Flight { landed: listed.landed.clone(), _waiters: waiters })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Listed>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Flight {
    /// Waits for the end. `None` if the flight was lost.
    pub async fn landed(&mut self) -> Option<Landed> {
        self.landed.wait_for(Option::is_some).await.ok()?.clone()
    }
}

impl Pilot {
    /// Ends the flight for everyone who waits.
    pub fn land(self, landed: Landed) {
        self.landing.send_replace(Some(landed));
    }
}

impl Waiters {
    fn of(cancellation: &Cancellation, outlives_callers: bool) -> Arc<Self> {
        Arc::new(Self { cancellation: (!outlives_callers).then(|| cancellation.clone()) })
    }
}

impl Drop for Waiters {
    fn drop(&mut self) {
        if let Some(cancellation) = &self.cancellation {
            cancellation.cancel(StopCause::CallerGone);
        }
    }
}

impl Drop for Pilot {
    fn drop(&mut self) {
        self.flights.lock().remove(&self.key);
    }
}
