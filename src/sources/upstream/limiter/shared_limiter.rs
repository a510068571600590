//! The limiter of all processes of one state: reservations of live sources in the state, those of embedded ones in
//! memory.
//!
//! A user's requests reserve one after another, each after the one before it was sent. Requests of other users take the
//! instants between, so a user with many requests waits as long for each as a user with one.
//!
//! A reservation is made within one transaction, by the same arithmetic as in memory, so that no two processes take the
//! same gap. A waiter that leaves gives its instant to the next caller; other waiters keep theirs. That a user's next
//! request would be too late is known for a second at most: a user who asks on and on takes no turn of those who write.
//! If a state in a directory cannot be used, each process limits itself. If servers of several machines share the state
//! and it cannot be used, live sources are not asked, since each server would spend the whole budget.

use std::{
    collections::{BTreeMap, BTreeSet},
    pin::pin,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures_util::future::BoxFuture;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::{
    Budgets, Limiter, MemoryLimiter, Permit, Refused, Usage,
    late_requests::LateRequests,
    reservation_guard::ReservationGuard,
    schedule::{MAX_WAITERS, earliest_behind, usage_behind},
    timeline::{Nanos, Timeline},
};
use toolwire_base::{
    clock,
    fair_semaphore::{FairSemaphore, Permit as Turn},
};
use toolwire_db::StoreError;
use toolwire_state::{Store, reservations::Reservation};
use toolwire_tool::context::UserId;

/// Limits requests of all processes that share a state.
#[derive(Debug)]
pub struct SharedLimiter {
    /// The limiter of the other sources, and of all sources while the state cannot be used.
    local: MemoryLimiter,
    store: Arc<Store>,
    /// The sources whose reservations are in the store.
    live: BTreeSet<String>,
    by_source: BTreeMap<String, OfSource>,
}

/// The requests of a source that are made in this process.
#[derive(Debug)]
struct OfSource {
    /// One turn of each user.
    turns: FairSemaphore<UserId>,
    late: LateRequests,
}

/// A reservation is made within this time: a request that waits longer for its turn waits for one that itself waits.
const RESERVING: Duration = Duration::from_millis(50);

/// Whether a request is admitted.
#[derive(Clone, Copy, Debug)]
enum Admission {
    /// After this wait.
    In(Duration),
    Refused(Refused),
}

impl SharedLimiter {
    /// A limiter of the sources with the given names, of which the live ones are shared. Any other is not limited.
    pub fn new<'a>(
        budgets: impl IntoIterator<Item = (&'a str, Budgets)>,
        store: Arc<Store>,
        live: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let live = live.into_iter().map(str::to_owned).collect();
        let budgets: Vec<_> = budgets.into_iter().collect();
        let of_source =
            || OfSource { turns: FairSemaphore::new(usize::MAX, 1), late: LateRequests::default() };
        let by_source = budgets.iter().map(|(source, _)| ((*source).to_owned(), of_source())).collect();
        Self { by_source, local: MemoryLimiter::new(budgets), store, live }
    }

    /// Waits until the user's requests before this one are made. Refused like a request that has its turn, by what is
    /// known now: requests of others that come meanwhile may make it later.
    async fn turn(
        &self,
        (source, turns): (&str, &FairSemaphore<UserId>),
        user: &UserId,
        deadline: Instant,
        waiting: &(dyn Fn(Duration) + Send + Sync),
    ) -> Result<Turn<UserId>, Refused> {
        let before = turns.waiting(user);
        let mut turn = pin!(turns.acquire(Some(user)));
        if let Ok(turn) = timeout_at(deadline.min(clock::now() + RESERVING), turn.as_mut()).await {
            return Ok(turn);
        }
        let before = before.min(turns.waiting(user).saturating_sub(1));
        let wait = self.usage_behind(source, user, before).await.wait;
        let at = clock::now() + wait;
        if at > deadline {
            return Err(Refused::TooLate { at });
        }
        if !wait.is_zero() {
            // Beside them one has its turn, and waits too.
            if before + 1 >= MAX_WAITERS {
                return Err(Refused::Crowded { at });
            }
            waiting(wait);
        }
        timeout_at(deadline, turn).await.map_err(|_| Refused::TooLate { at: at.max(deadline) })
    }

    async fn usage_behind(&self, source: &str, user: &UserId, count: usize) -> Usage {
        if let Some(budgets) = self.shared_budgets(source)
            && let Ok(usage) = self.usage_behind_shared((source, budgets), user, count).await
        {
            return usage;
        }
        self.local.usage_behind(source, user, count)
    }

    async fn acquire_in_turn(
        &self,
        source: &str,
        user: &UserId,
        deadline: Instant,
        waiting: &(dyn Fn(Duration) + Send + Sync),
    ) -> Result<Permit, Refused> {
        let Some(OfSource { turns, late }) = self.by_source.get(source) else {
            return Ok(Permit::Unlimited);
        };
        let _turn = self.turn((source, turns), user, deadline, waiting).await?;
        match self.shared_budgets(source) {
            Some(budgets) => {
                if let Some(at) = late.find(user, deadline, clock::now()) {
                    return Err(Refused::TooLate { at });
                }
                let look = late.look(user);
                let acquired = self.acquire_shared((source, budgets), user, deadline, waiting).await;
                if let Err(Refused::TooLate { at }) = acquired {
                    late.remember(look, user, at, clock::now());
                }
                acquired
            }
            None => self.local.acquire(source, user, deadline, waiting).await,
        }
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
                let mut reservation = self.guard(source, number);
                let at = clock::now() + wait;
                waiting(wait);
                sleep_until(at).await;
                Ok(reservation.number.take().map_or(Permit::Unlimited, Permit::Shared))
            }
        }
    }

    fn guard(&self, source: &str, number: Option<i64>) -> ReservationGuard {
        let late = self.by_source.get(source).map(|of_source| of_source.late.clone());
        ReservationGuard { store: Arc::clone(&self.store), number, late }
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
        let choose = |reserved: &[Reservation], now: Nanos| {
            let arrived = clock::now();
            let at = earliest_behind(timelines(&budgets, reserved, user), now, 0);
            let waiters = reserved.iter().filter(|it| it.user == *user && it.at > now).count();
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
        let number = self.store.reserve(source, user, memory(&budgets), &choose).await?;
        let admission = *admission.lock().unwrap_or_else(PoisonError::into_inner);
        Ok((number, admission))
    }

    async fn usage_behind_shared(
        &self,
        (source, budgets): (&str, Budgets),
        user: &UserId,
        count: usize,
    ) -> Result<Usage, StoreError> {
        let (reserved, now) = self.store.reservations(source, memory(&budgets)).await?;
        Ok(usage_behind(timelines(&budgets, &reserved, user), now, count))
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
        Box::pin(self.acquire_in_turn(source, user, deadline, waiting))
    }

    fn give_back(&self, source: &str, user: &UserId, permit: Permit) {
        match permit {
            Permit::Shared(number) => {
                drop(self.guard(source, Some(number)));
            }
            permit => self.local.give_back(source, user, permit),
        }
    }

    fn usage<'a>(&'a self, source: &'a str, user: &'a UserId) -> BoxFuture<'a, Usage> {
        Box::pin(async move {
            let before = self.by_source.get(source).map_or(0, |of_source| of_source.turns.waiting(user));
            self.usage_behind(source, user, before).await
        })
    }

    fn budgets(&self, source: &str) -> Option<Budgets> {
        self.local.budgets(source)
    }
}

/// The requests of the user, and those of all.
fn timelines(budgets: &Budgets, reserved: &[Reservation], user: &UserId) -> (Timeline, Timeline) {
    let (mut own, mut ceiling) = (Timeline::new(&budgets.per_user), Timeline::new(&budgets.ceiling));
    for reservation in reserved {
        ceiling.insert(reservation.at);
        if reservation.user == *user {
            own.insert(reservation.at);
        }
    }
    (own, ceiling)
}

/// How long earlier requests count for new ones.
fn memory(budgets: &Budgets) -> Nanos {
    Timeline::memory(&budgets.per_user).max(Timeline::memory(&budgets.ceiling))
}

#[cfg(test)]
mod tests {
    use futures_util::{future::join_all, poll};

    use super::*;
    use crate::upstream::limiter::Budget;
    use toolwire_db::Address;

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
        let used = async |limiter: &SharedLimiter, source: &str, user: &str| {
            let usage = limiter.usage(source, &user.parse().unwrap()).await;
            (usage.of_user, usage.of_all)
        };
        assert_eq!((used(&one, "live", "a").await, used(&one, "live", "c").await), ((2, 3), (0, 3)));
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

    #[tokio::test(start_paused = true)]
    async fn users_take_the_instants_of_a_source_in_turn() {
        let spaced = budget(1_000, Duration::from_secs(1));
        let limiter = process(&Arc::new(Store::in_memory()), spaced, spaced);
        let made = Mutex::new(String::new());
        let one = async |user: &'static str| {
            let (far, id) = (clock::now() + HOUR, user.parse().unwrap());
            limiter.acquire("embedded", &id, far, &|_| ()).await.unwrap();
            made.lock().unwrap().push_str(user);
        };
        join_all(["a", "a", "a", "a", "b", "b", "c"].map(one)).await;
        assert_eq!(*made.lock().unwrap(), "aabcaba");
    }

    #[tokio::test]
    async fn a_user_reserves_one_instant_of_a_live_source_at_a_time() {
        let state = Arc::new(Store::in_memory());
        let limiter = Arc::new(process(&state, budget(100, HOUR), budget(100, HOUR)));
        let far = clock::now() + 24 * HOUR;
        let acquire = |user: &'static str| {
            let limiter = Arc::clone(&limiter);
            tokio::spawn(async move { limiter.acquire("live", &user.parse().unwrap(), far, &|_| ()).await })
        };
        let reserved = async |count| loop {
            let (reserved, _) = state.reservations("live", Nanos::MAX).await.unwrap();
            if reserved.len() >= count {
                return reserved;
            }
        };
        // The first one waits for nothing, the second one an hour, and the others for the second.
        let _waiting = ["a"; 4].map(acquire);
        reserved(2).await;
        let _other = acquire("b");
        let users: Vec<_> = reserved(3).await.iter().map(|it| it.user.to_string()).collect();
        assert_eq!(users, ["a", "a", "b"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_behind_others_of_its_user_is_refused_at_once_if_it_cannot_be_in_time() {
        let limiter = process(&Arc::new(Store::in_memory()), budget(100, HOUR), budget(100, HOUR));
        let (user, now) = ("a".parse().unwrap(), clock::now());
        let limiter = &limiter;
        let acquire = |hours| limiter.acquire("embedded", &user, now + hours * HOUR, &|_| ());
        let mut waiting: Vec<_> = (0..=MAX_WAITERS).map(|_| Box::pin(acquire(100))).collect();
        for wait in &mut waiting {
            let _ = poll!(wait);
        }
        let late = acquire(5).await.unwrap_err();
        assert!(matches!(late, Refused::TooLate { at } if at > now + 16 * HOUR), "{late:?}");
        assert!(matches!(acquire(100).await, Err(Refused::Crowded { .. })));
        assert!(clock::now() < now + HOUR, "without waiting for it");
        assert!(limiter.wait_time("embedded", &user).await > 16 * HOUR);
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
