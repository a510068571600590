//! A flight: work in a task of its own, with any number of callers waiting for its end.
//!
//! Not here: what is flown, which `idempotency` and `cache` know, and what is kept of it.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use tokio::sync::watch;

use crate::{
    context::{Audience, Cancellation, StopCause},
    contract::{Refusal, Terminal},
};

/// How the work of a call ended.
pub type Landed = Result<Terminal, Refusal>;

/// The flights under way, by what they are flights of. Cloning it makes another handle of the same.
#[derive(Debug)]
pub struct Flights<K, L>(Arc<Mutex<HashMap<K, Listed<L>>>>);

/// A caller's view of a flight; it counts as a waiter until it is dropped.
#[derive(Debug)]
pub struct Flight<L> {
    landed: watch::Receiver<Option<L>>,
    waiters: Arc<Waiters>,
    caller: Cancellation,
    audience: Audience,
}

/// The flight's own end, held by its task.
#[derive(Debug)]
pub struct Pilot<K: Eq + Hash, L> {
    key: K,
    flights: Flights<K, L>,
    landing: watch::Sender<Option<L>>,
}

/// What becomes of a flight when its last waiter leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unattended {
    /// It goes on: it writes, and a write is not cut in half.
    GoesOn,
    /// It ends: nobody wants what it reads.
    Ends,
}

#[derive(Debug)]
struct Listed<L> {
    landed: watch::Receiver<Option<L>>,
    /// The list does not count as a waiter.
    waiters: Weak<Waiters>,
    cancellation: Cancellation,
    unattended: Unattended,
    audience: Audience,
}

/// Shared by all who wait. Dropped by the last.
#[derive(Debug)]
struct Waiters {
    cancellation: Cancellation,
    unattended: Unattended,
    /// Why the last one who left did so.
    left: Mutex<Option<StopCause>>,
}

impl<K, L> Default for Flights<K, L> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<K, L> Clone for Flights<K, L> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<K: Clone + Eq + Hash, L> Flights<K, L> {
    /// Begins a flight that the given cancellation stops. The pilot goes to its task.
    pub fn begin(
        &self,
        key: K,
        cancellation: Cancellation,
        unattended: Unattended,
        caller: &Cancellation,
    ) -> (Pilot<K, L>, Flight<L>) {
        self.begin_in(&mut self.lock(), key, cancellation, unattended, caller)
    }

    /// Joins the flight of the key, if it is under way.
    pub fn join(&self, key: &K, caller: &Cancellation) -> Option<Flight<L>> {
        self.lock().get_mut(key)?.join(caller)
    }

    /// Joins the flight of the key, or else begins one, in one step.
    pub fn join_or_begin(
        &self,
        key: K,
        unattended: Unattended,
        caller: &Cancellation,
    ) -> (Option<Pilot<K, L>>, Flight<L>) {
        let mut list = self.lock();
        if let Some(flight) = list.get_mut(&key).and_then(|listed| listed.join(caller)) {
            return (None, flight);
        }
        let (pilot, flight) = self.begin_in(&mut list, key, Cancellation::new(), unattended, caller);
        (Some(pilot), flight)
    }

    fn begin_in(
        &self,
        list: &mut HashMap<K, Listed<L>>,
        key: K,
        cancellation: Cancellation,
        unattended: Unattended,
        caller: &Cancellation,
    ) -> (Pilot<K, L>, Flight<L>) {
        let (landing, landed) = watch::channel(None);
        let waiters = Waiters::of(&cancellation, unattended);
        let flight = Flight { landed, waiters, caller: caller.clone(), audience: Audience::default() };
        let listed = Listed {
            landed: flight.landed.clone(),
            waiters: Arc::downgrade(&flight.waiters),
            cancellation,
            unattended,
            audience: flight.audience.clone(),
        };
        list.insert(key.clone(), listed);
        (Pilot { key, flights: self.clone(), landing }, flight)
    }
}

impl<K, L> Flights<K, L> {
    fn lock(&self) -> MutexGuard<'_, HashMap<K, Listed<L>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<L> Listed<L> {
    fn join(&mut self, caller: &Cancellation) -> Option<Flight<L>> {
        let waiters = match (self.waiters.upgrade(), self.unattended) {
            (Some(waiters), _) => waiters,
            // Nobody waits any more: a flight that only reads is over, one that writes can be joined again.
            (None, Unattended::GoesOn) => Waiters::of(&self.cancellation, Unattended::GoesOn),
            (None, Unattended::Ends) => return None,
        };
        self.waiters = Arc::downgrade(&waiters);
        let (landed, audience) = (self.landed.clone(), self.audience.clone());
        Some(Flight { landed, waiters, caller: caller.clone(), audience })
    }
}

impl<L: Clone> Flight<L> {
    /// Waits for the end. `None` if the flight was lost.
    pub async fn landed(&mut self) -> Option<L> {
        self.landed.wait_for(Option::is_some).await.ok()?.clone()
    }
}

impl<L> Flight<L> {
    /// What stops the work for all who wait for it.
    pub fn cancellation(&self) -> &Cancellation {
        &self.waiters.cancellation
    }

    /// All who wait and listen.
    pub fn audience(&self) -> &Audience {
        &self.audience
    }
}

impl<K: Eq + Hash, L> Pilot<K, L> {
    /// Whether this is the flight of its key: one that nobody waited for may have been begun anew.
    pub fn is_listed(&self) -> bool {
        self.flights.lock().get(&self.key).is_some_and(|listed| self.is_of(listed))
    }

    /// Ends the flight for everyone who waits.
    pub fn land(self, landed: L) {
        self.landing.send_replace(Some(landed));
    }

    fn is_of(&self, listed: &Listed<L>) -> bool {
        self.landing.subscribe().same_channel(&listed.landed)
    }
}

impl Waiters {
    fn of(cancellation: &Cancellation, unattended: Unattended) -> Arc<Self> {
        Arc::new(Self { cancellation: cancellation.clone(), unattended, left: Mutex::default() })
    }
}

impl<L> Drop for Flight<L> {
    fn drop(&mut self) {
        *self.waiters.left.lock().unwrap_or_else(PoisonError::into_inner) = self.caller.cause();
    }
}

impl Drop for Waiters {
    fn drop(&mut self) {
        let left = *self.left.get_mut().unwrap_or_else(PoisonError::into_inner);
        if self.unattended == Unattended::Ends {
            self.cancellation.cancel(left.unwrap_or(StopCause::CallerGone));
        }
    }
}

impl<K: Eq + Hash, L> Drop for Pilot<K, L> {
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

    type TestFlights = Flights<&'static str, ()>;

    #[test]
    fn an_abandoned_flight_that_lands_late_leaves_its_successor_alone() {
        let (flights, caller) = (TestFlights::default(), Cancellation::new());
        let begin = || flights.begin("x", Cancellation::new(), Unattended::Ends, &caller);
        let (abandoned, waiter) = begin();
        drop(waiter);
        assert!(flights.join(&"x", &caller).is_none(), "an abandoned read is over");
        let (successor, _waiter) = begin();
        assert!(!abandoned.is_listed());
        drop(abandoned);
        assert!(successor.is_listed());
        assert!(flights.join(&"x", &caller).is_some());
    }

    #[test]
    fn the_last_waiter_to_leave_says_why_the_flight_ends() {
        for (cause, expected) in
            [(None, StopCause::CallerGone), (Some(StopCause::Cancelled), StopCause::Cancelled)]
        {
            let (first, last) = (Cancellation::new(), Cancellation::new());
            let flights = TestFlights::default();
            let (_pilot, flight) = flights.join_or_begin("x", Unattended::Ends, &first);
            let (joined, second) = flights.join_or_begin("x", Unattended::Ends, &last);
            assert!(joined.is_none(), "one flight for both");
            let cancellation = flight.cancellation().clone();
            first.cancel(StopCause::Deadline);
            drop(flight);
            assert!(!cancellation.is_cancelled());
            if let Some(cause) = cause {
                last.cancel(cause);
            }
            drop(second);
            assert_eq!(cancellation.cause(), Some(expected));
        }
    }

    #[test]
    fn a_flight_that_writes_goes_on_unattended_and_can_be_joined_again() {
        let (flights, caller) = (TestFlights::default(), Cancellation::new());
        let (_pilot, flight) = flights.begin("x", Cancellation::new(), Unattended::GoesOn, &caller);
        let cancellation = flight.cancellation().clone();
        drop(flight);
        assert!(!cancellation.is_cancelled());
        assert!(flights.join(&"x", &caller).is_some());
    }
}
