//! The limiter of one process: reservations in memory, a lock a source.
//!
//! A reservation is an instant on two timelines, the user's and the source's. It is placed on arrival and never moves
//! later; when a waiter leaves, those that remain move up. What counts is the reserved instant: a waiter that the
//! scheduler wakes a little late goes out a little late, and the next one is not held back for it.

use std::{
    collections::HashMap,
    future::ready,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures_util::future::BoxFuture;
use tokio::{select, sync::watch, time::Instant, time::sleep_until};

use super::{
    Budgets, Limiter, Permit, Refused, Usage,
    schedule::{Placement, Schedule},
    timeline::{Nanos, nanos},
};
use toolwire_base::clock;
use toolwire_tool::context::UserId;

/// Limits requests of this process.
#[derive(Debug)]
pub struct MemoryLimiter {
    epoch: Instant,
    sources: HashMap<String, Source>,
}

#[derive(Debug)]
struct Source {
    budgets: Budgets,
    schedule: Mutex<Schedule>,
}

/// A reservation in a schedule, given back unless it was used.
struct Reservation<'a> {
    source: &'a Source,
    epoch: Instant,
    id: u64,
    is_used: bool,
}

impl MemoryLimiter {
    /// A limiter of the sources with the given names. Any other is not limited.
    pub fn new(sources: impl IntoIterator<Item = (impl Into<String>, Budgets)>) -> Self {
        let source = |budgets| Source { budgets, schedule: Mutex::new(Schedule::new(budgets)) };
        let sources = sources.into_iter().map(|(name, budgets)| (name.into(), source(budgets)));
        Self { epoch: clock::now(), sources: sources.collect() }
    }

    fn now(&self) -> Nanos {
        nanos(clock::now() - self.epoch)
    }

    fn instant(&self, at: Nanos) -> Instant {
        self.epoch + Duration::from_nanos(at)
    }

    /// How much is used, and how long a request made now would wait behind this many others of the user that have no
    /// instant yet.
    pub(super) fn usage_behind(&self, source: &str, user: &UserId, count: usize) -> Usage {
        let now = self.now();
        let usage = self.sources.get(source).map(|source| source.lock().usage_behind(user, now, count));
        usage.unwrap_or_default()
    }

    async fn acquire_from<'a>(
        &'a self,
        source: &'a Source,
        user: &'a UserId,
        deadline: Instant,
        waiting: &'a (dyn Fn(Duration) + Send + Sync),
    ) -> Result<Permit, Refused> {
        let now = self.now();
        let latest = nanos(deadline.saturating_duration_since(self.epoch));
        let (id, at, moved) = match source.lock().reserve(user, now, latest) {
            Placement::Now => return Ok(Permit::Local(now)),
            Placement::Later { id, at, moved } => (id, at, moved),
            Placement::TooLate { at } => return Err(Refused::TooLate { at: self.instant(at) }),
            Placement::Crowded { at } => return Err(Refused::Crowded { at: self.instant(at) }),
        };
        // Held from here on: a caller that is dropped while it waits gives its instant back.
        let mut reservation = Reservation { source, epoch: self.epoch, id, is_used: false };
        waiting(Duration::from_nanos(at - now));
        let at = self.wait(moved).await;
        reservation.is_used = true;
        Ok(Permit::Local(at))
    }

    /// Waits for the reserved instant, which others that leave may bring forward.
    async fn wait(&self, mut moved: watch::Receiver<Nanos>) -> Nanos {
        loop {
            let at = *moved.borrow_and_update();
            select! {
                () = sleep_until(self.instant(at)) => return at,
                Ok(()) = moved.changed() => {}
            }
        }
    }
}

impl Limiter for MemoryLimiter {
    fn acquire<'a>(
        &'a self,
        source: &'a str,
        user: &'a UserId,
        deadline: Instant,
        waiting: &'a (dyn Fn(Duration) + Send + Sync),
    ) -> BoxFuture<'a, Result<Permit, Refused>> {
        match self.sources.get(source) {
            Some(source) => Box::pin(self.acquire_from(source, user, deadline, waiting)),
            None => Box::pin(ready(Ok(Permit::Unlimited))),
        }
    }

    fn give_back(&self, source: &str, user: &UserId, permit: Permit) {
        if let (Some(source), Permit::Local(at)) = (self.sources.get(source), permit) {
            source.lock().free(user, at, self.now());
        }
    }

    fn usage<'a>(&'a self, source: &'a str, user: &'a UserId) -> BoxFuture<'a, Usage> {
        Box::pin(ready(self.usage_behind(source, user, 0)))
    }

    fn budgets(&self, source: &str) -> Option<Budgets> {
        self.sources.get(source).map(|source| source.budgets)
    }
}

impl Source {
    fn lock(&self) -> MutexGuard<'_, Schedule> {
        self.schedule.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        let mut schedule = self.source.lock();
        if self.is_used {
            schedule.grant(self.id);
        } else {
            schedule.give_back(self.id, nanos(clock::now() - self.epoch));
        }
    }
}
