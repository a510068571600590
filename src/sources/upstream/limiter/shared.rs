//! The limiter of all processes of one state: reservations of live sources in the state, those of embedded ones in
//! memory.
//!
//! A reservation is made within one transaction, by the same arithmetic as in memory, so that no two processes take the
//! same gap. A waiter that leaves gives its instant to the next caller; other waiters keep theirs. If a state
//! that is a directory cannot be used, each process limits itself; if servers of several machines share the state, a
//! live source is not asked, since each of them would spend the whole budget.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, UNIX_EPOCH},
};

use futures_util::future::BoxFuture;
use tokio::{
    runtime::Handle,
    time::{Instant, sleep_until},
};

use super::{
    Budgets, Limiter, MemoryLimiter, Permit, Refused,
    schedule::{MAX_WAITERS, earliest},
    timeline::{Nanos, Timeline, nanos},
};
use toolwire_base::clock;
use toolwire_store::{Store, StoreError, reservations::Reservation};
use toolwire_tool::context::UserId;

/// Limits requests of all processes that share a state.
#[derive(Debug)]
pub struct SharedLimiter {
    /// For the other sources, and for all if the state cannot be used.
    local: MemoryLimiter,
    store: Arc<Store>,
    /// The sources whose reservations are in the store.
    live: BTreeSet<String>,
}

/// Whether a request is admitted.
#[derive(Clone, Copy, Debug)]
enum Admission {
    /// After this wait.
    In(Duration),
    Refused(Refused),
}

/// A reservation in the store, cancelled on drop unless it was used.
struct ReservationGuard {
    store: Arc<Store>,
    /// `None` once it is used.
    number: Option<i64>,
}

impl SharedLimiter {
    /// A limiter of the sources with the given names, of which the live ones are shared. Any other is not limited.
    pub fn new<'a>(
        budgets: impl IntoIterator<Item = (&'a str, Budgets)>,
        store: Arc<Store>,
        live: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let live = live.into_iter().map(str::to_owned).collect();
        Self { local: MemoryLimiter::new(budgets), store, live }
    }

    /// The budgets of a source whose reservations are in the store.
    fn shared_budgets(&self, source: &str) -> Option<Budgets> {
        self.local.budgets(source).filter(|_| self.live.contains(source))
    }

    async fn acquire_shared(
        &self,
        (source, budgets): (&str, Budgets),
        user: &UserId,
        deadline: Instant,
        waiting: &(dyn Fn(Duration) + Send + Sync),
    ) -> Result<Permit, Refused> {
        let (number, admission) = match self.reserve((source, budgets), user, deadline).await {
            Ok(reserved) => reserved,
            Err(error) if self.store.spans_machines() => {
                tracing::warn!(source, %error, "a live source is not asked: the state cannot be used");
                return Err(Refused::Uncounted);
            }
            Err(error) => {
                tracing::warn!(source, %error, "this process alone is limited: the state cannot be used");
                return self.local.acquire(source, user, deadline, waiting).await;
            }
        };
        match admission {
            Admission::Refused(refused) => Err(refused),
            Admission::In(Duration::ZERO) => Ok(number.map_or(Permit::Unlimited, Permit::Shared)),
            Admission::In(wait) => {
                // Held from here on: a caller that is dropped while it waits gives its instant back.
                let mut reservation = ReservationGuard { store: Arc::clone(&self.store), number };
                let at = clock::now() + wait;
                waiting(wait);
                sleep_until(at).await;
                Ok(reservation.number.take().map_or(Permit::Unlimited, Permit::Shared))
            }
        }
    }

    /// Reserves the earliest instant, or nothing if that is too late or too many requests of the user wait.
    async fn reserve(
        &self,
        (source, budgets): (&str, Budgets),
        user: &UserId,
        deadline: Instant,
    ) -> Result<(Option<i64>, Admission), StoreError> {
        // Set by `choose`, which runs again when the transaction does: the last run counts.
        let admission = Mutex::new(Admission::In(Duration::ZERO));
        let choose = |reserved: &[Reservation]| {
            let (now, arrived) = (now(), clock::now());
            let (at, waiters) = earliest_of(&budgets, reserved, user, now);
            let wait = Duration::from_nanos(at - now);
            let refused = if arrived + wait > deadline {
                Some(Refused::TooLate { at: arrived + wait })
            } else if at > now && waiters >= MAX_WAITERS {
                Some(Refused::Crowded { at: arrived + wait })
            } else {
                None
            };
            *admission.lock().unwrap_or_else(PoisonError::into_inner) =
                refused.map_or(Admission::In(wait), Admission::Refused);
            refused.is_none().then_some(at)
        };
        let number = self.store.reserve(source, user, since(&budgets), &choose).await?;
        let admission = *admission.lock().unwrap_or_else(PoisonError::into_inner);
        Ok((number, admission))
    }

    async fn wait_time_shared(
        &self,
        (source, budgets): (&str, Budgets),
        user: &UserId,
    ) -> Result<Duration, StoreError> {
        let reserved = self.store.reservations(source, since(&budgets)).await?;
        let now = now();
        Ok(Duration::from_nanos(earliest_of(&budgets, &reserved, user, now).0 - now))
    }
}

impl Limiter for SharedLimiter {
    fn acquire<'a>(
        &'a self,
        source: &'a str,
        user: &'a UserId,
        deadline: Instant,
        waiting: &'a (dyn Fn(Duration) + Send + Sync),
    ) -> BoxFuture<'a, Result<Permit, Refused>> {
        match self.shared_budgets(source) {
            Some(budgets) => Box::pin(self.acquire_shared((source, budgets), user, deadline, waiting)),
            None => self.local.acquire(source, user, deadline, waiting),
        }
    }

    fn give_back(&self, source: &str, user: &UserId, permit: Permit) {
        match permit {
            Permit::Shared(number) => {
                drop(ReservationGuard { store: Arc::clone(&self.store), number: Some(number) });
            }
            permit => self.local.give_back(source, user, permit),
        }
    }

    fn wait_time<'a>(&'a self, source: &'a str, user: &'a UserId) -> BoxFuture<'a, Duration> {
        let Some(budgets) = self.shared_budgets(source) else { return self.local.wait_time(source, user) };
        Box::pin(async move {
            match self.wait_time_shared((source, budgets), user).await {
                Ok(wait) => wait,
                Err(_) => self.local.wait_time(source, user).await,
            }
        })
    }

    fn budgets(&self, source: &str) -> Option<Budgets> {
        self.local.budgets(source)
    }
}

impl Drop for ReservationGuard {
    fn drop(&mut self) {
        let (Some(number), Ok(runtime)) = (self.number, Handle::try_current()) else { return };
        let store = Arc::clone(&self.store);
        // If this fails, the reservation is not used and its instant passes.
        runtime.spawn(async move { drop(store.cancel_reservation(number).await) });
    }
}

/// The instant at which a request of the user would be admitted now, and the number of the user's waiting requests.
fn earliest_of(budgets: &Budgets, reserved: &[Reservation], user: &UserId, now: Nanos) -> (Nanos, usize) {
    let (mut own, mut ceiling) = (Timeline::new(&budgets.per_user), Timeline::new(&budgets.ceiling));
    let mut waiters = 0;
    for reservation in reserved {
        ceiling.insert(reservation.at);
        if reservation.user == *user {
            own.insert(reservation.at);
            waiters += usize::from(reservation.at > now);
        }
    }
    (earliest(Some(&own), &ceiling, now), waiters)
}

/// The wall clock, which processes share.
fn now() -> Nanos {
    nanos(clock::wall().duration_since(UNIX_EPOCH).unwrap_or_default())
}

/// The instant from which on earlier requests count for new ones.
fn since(budgets: &Budgets) -> Nanos {
    now().saturating_sub(Timeline::memory(&budgets.per_user).max(Timeline::memory(&budgets.ceiling)))
}

#[cfg(test)]
mod tests {
    use futures_util::poll;

    use super::*;
    use crate::upstream::limiter::Budget;
    use toolwire_store::Address;

    const HOUR: Duration = Duration::from_hours(1);

    fn budget(max_requests: u32, min_delay: Duration) -> Budget {
        Budget { max_requests, window: HOUR, min_delay }
    }

    fn process(state: &Arc<Store>, per_user: Budget, ceiling: Budget) -> SharedLimiter {
        let budgets = Budgets { per_user, ceiling };
        let sources = [("live", budgets), ("embedded", budgets)];
        SharedLimiter::new(sources, Arc::clone(state), ["live"])
    }

    async fn acquire(limiter: &SharedLimiter, source: &str, user: &str) -> Result<Permit, Refused> {
        let user = user.parse().unwrap();
        limiter.acquire(source, &user, clock::now() + Duration::from_secs(5), &|_| ()).await
    }

    #[tokio::test]
    async fn processes_spend_one_budget_of_a_live_source_and_each_its_own_of_an_embedded_one() {
        let state = Arc::new(Store::in_memory());
        let start = || process(&state, budget(2, Duration::ZERO), budget(3, Duration::ZERO));
        let (one, other) = (start(), start());
        acquire(&one, "live", "a").await.unwrap();
        acquire(&other, "live", "a").await.unwrap();
        let Err(Refused::TooLate { at }) = acquire(&one, "live", "a").await else { panic!("it is spent") };
        let left = clock::remaining(at);
        assert!(left <= HOUR && left + Duration::from_mins(5) > HOUR, "{left:?}");
        assert!(other.wait_time("live", &"a".parse().unwrap()).await + Duration::from_mins(5) > HOUR);
        acquire(&other, "live", "b").await.unwrap();
        assert!(acquire(&one, "live", "c").await.is_err(), "the ceiling is of all processes, too");
        for limiter in [&one, &other] {
            acquire(limiter, "embedded", "a").await.unwrap();
            acquire(limiter, "embedded", "a").await.unwrap();
        }
        // As a program that is started again and again.
        assert!(acquire(&start(), "live", "a").await.is_err());
    }

    #[tokio::test]
    async fn a_waiter_that_leaves_gives_its_place_back() {
        let state = Arc::new(Store::in_memory());
        let spaced = budget(100, HOUR);
        let limiter = process(&state, spaced, spaced);
        let user = "a".parse().unwrap();
        acquire(&limiter, "live", "a").await.unwrap();
        let reported = Mutex::new(None);
        {
            let report = |wait| *reported.lock().unwrap() = Some(wait);
            let far = clock::now() + 24 * HOUR;
            let mut waits = limiter.acquire("live", &user, far, &report);
            while reported.lock().unwrap().is_none() {
                assert!(poll!(&mut waits).is_pending());
                tokio::task::yield_now().await;
            }
            assert!(limiter.wait_time("live", &user).await > HOUR, "two places are taken");
        }
        while limiter.wait_time("live", &user).await > HOUR {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn what_is_given_back_is_not_spent() {
        let (state, user) = (Arc::new(Store::in_memory()), "a".parse().unwrap());
        let limiter = process(&state, budget(1, Duration::ZERO), budget(9, Duration::ZERO));
        for source in ["live", "embedded"] {
            let permit = acquire(&limiter, source, "a").await.unwrap();
            assert!(acquire(&limiter, source, "a").await.is_err());
            limiter.give_back(source, &user, permit);
            while acquire(&limiter, source, "a").await.is_err() {
                tokio::task::yield_now().await;
            }
        }
    }

    #[tokio::test]
    async fn without_a_state_a_process_limits_itself() {
        let nowhere = Arc::new(Store::unavailable("there is no place"));
        let limiter = process(&nowhere, budget(1, Duration::ZERO), budget(9, Duration::ZERO));
        acquire(&limiter, "live", "a").await.unwrap();
        assert!(acquire(&limiter, "live", "a").await.is_err());
    }

    #[tokio::test]
    async fn without_the_state_of_several_machines_a_source_is_not_asked() {
        let nobody = Address::new("postgres://me@127.0.0.1:1/tools", "toolwire").unwrap();
        let limiter = process(
            &Arc::new(Store::in_postgres(nobody)),
            budget(1, Duration::ZERO),
            budget(9, Duration::ZERO),
        );
        assert_eq!(acquire(&limiter, "live", "a").await, Err(Refused::Uncounted));
        acquire(&limiter, "embedded", "a").await.unwrap();
    }
}
