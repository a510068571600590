//! Fair round-robin over users: each starts a bounded number of calls a round, so a user waits for a few calls of
//! another and not for all of them. A user alone is not throttled.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{sync::oneshot, task::yield_now, time::Instant};

use crate::quotas::Principal;
use toolwire_base::clock;

/// The time after a call of another user during which calls are scheduled in rounds.
const RECENT: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct RoundRobin {
    each: usize,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    /// The last caller.
    last: Option<Principal>,
    /// The time from which the last caller counts as alone again.
    several_until: Option<Instant>,
    /// Ordered, so that simulations are deterministic.
    by_user: BTreeMap<Principal, PerUser>,
    is_running: bool,
}

#[derive(Debug, Default)]
struct PerUser {
    started: usize,
    /// In order of arrival.
    waiting: VecDeque<oneshot::Sender<()>>,
}

impl RoundRobin {
    /// Starts at most `each` calls of a user per round.
    pub(super) fn new(each: usize) -> Self {
        Self { each, state: Arc::default() }
    }

    /// Waits until a call of the user may start.
    pub(super) async fn wait_to_start(&self, principal: &Principal) {
        let Some(started) = self.try_start(principal) else { return };
        // The sender is not dropped before it has signalled the start.
        let _ = started.await;
    }

    /// Starts a call now, or returns the signal of its start.
    fn try_start(&self, principal: &Principal) -> Option<oneshot::Receiver<()>> {
        let mut state = lock(&self.state);
        if state.is_alone(principal) {
            return None;
        }
        if !state.is_running {
            state.is_running = true;
            tokio::spawn(run_rounds(Arc::clone(&self.state), self.each));
        }
        let user = state.by_user.entry(principal.clone()).or_default();
        if user.started < self.each && user.waiting.is_empty() {
            user.started += 1;
            return None;
        }
        let (sender, receiver) = oneshot::channel();
        user.waiting.push_back(sender);
        Some(receiver)
    }
}

/// Runs rounds until one starts no call.
async fn run_rounds(state: Arc<Mutex<State>>, each: usize) {
    loop {
        // The next round starts when all ready tasks have run and new requests were read.
        yield_now().await;
        let mut state = lock(&state);
        state.start_round(each);
        if state.by_user.is_empty() {
            state.is_running = false;
            return;
        }
    }
}

impl State {
    /// Whether no other user has called within [`RECENT`].
    fn is_alone(&mut self, principal: &Principal) -> bool {
        if self.last.as_ref() != Some(principal) {
            let is_first = self.last.replace(principal.clone()).is_none();
            self.several_until = (!is_first).then(|| clock::now() + RECENT);
        }
        // The clock is read only while several users call.
        self.several_until = self.several_until.filter(|until| clock::now() < *until);
        self.several_until.is_none()
    }

    /// Starts the calls of the next round, the longest waiting first. Removes users that start none.
    fn start_round(&mut self, each: usize) {
        self.by_user.retain(|_, user| {
            user.started = 0;
            while user.started < each
                && let Some(waiting) = user.waiting.pop_front()
            {
                // The send fails for a call that was cancelled while it waited.
                user.started += usize::from(waiting.send(()).is_ok());
            }
            user.started > 0
        });
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use tokio::time::advance;

    use super::*;

    fn user(id: &str) -> Principal {
        Principal::User(id.parse().unwrap())
    }

    /// The order in which calls of these users start, when all have arrived.
    async fn order(rounds: &Arc<RoundRobin>, users: &[&'static str]) -> String {
        let started = Arc::new(Mutex::new(String::new()));
        let calls = users.iter().copied().map(|id| {
            let (rounds, started) = (Arc::clone(rounds), Arc::clone(&started));
            tokio::spawn(async move {
                rounds.wait_to_start(&user(id)).await;
                started.lock().unwrap().push_str(id);
            })
        });
        for call in calls.collect::<Vec<_>>() {
            call.await.unwrap();
        }
        started.lock().unwrap().clone()
    }

    #[tokio::test(start_paused = true)]
    async fn a_user_waits_for_a_round_of_anothers_flood_and_not_for_all_of_it() {
        let rounds = Arc::new(RoundRobin::new(2));
        rounds.wait_to_start(&user("b")).await;
        assert_eq!(order(&rounds, &["a", "a", "a", "a", "a", "a", "b", "c"]).await, "aabcaaaa");
        while lock(&rounds.state).is_running {
            yield_now().await;
        }
        assert!(lock(&rounds.state).by_user.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn who_calls_alone_is_not_held_back() {
        let rounds = RoundRobin::new(2);
        let all_at_once = || (0..100).all(|_| rounds.wait_to_start(&user("a")).now_or_never().is_some());
        assert!(all_at_once());
        rounds.wait_to_start(&user("b")).await;
        assert!(!all_at_once());
        advance(RECENT).await;
        assert!(all_at_once());
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_that_is_given_up_takes_no_turn() {
        let rounds = RoundRobin::new(1);
        rounds.wait_to_start(&user("b")).await;
        rounds.wait_to_start(&user("a")).await;
        let (given_up, mut next) =
            (rounds.try_start(&user("a")).unwrap(), rounds.try_start(&user("a")).unwrap());
        drop(given_up);
        lock(&rounds.state).start_round(1);
        assert_eq!(next.try_recv(), Ok(()));
    }
}
