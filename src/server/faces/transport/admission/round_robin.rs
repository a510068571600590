//! Fair round-robin over users: each starts a bounded number of calls a round, so a user waits for a few calls of
//! another and not for all of them. A user alone is not throttled.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{sync::oneshot, task::yield_now, time::Instant};

use crate::faces::transport::quotas::Principal;
use toolwire_base::clock;

/// So long after somebody else has called a user does not call alone.
const RECENT: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct RoundRobin {
    each: usize,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    /// Who called last.
    last: Option<Principal>,
    /// Until when several users call.
    several_until: Option<Instant>,
    /// In an order that is the same each time, as a simulation of it wants.
    of: BTreeMap<Principal, Of>,
    is_going_on: bool,
}

#[derive(Debug, Default)]
struct Of {
    begun: usize,
    /// In the order in which they came.
    waiting: VecDeque<oneshot::Sender<()>>,
}

impl RoundRobin {
    /// So many calls of each user a round.
    pub(super) fn new(each: usize) -> Self {
        Self { each, state: Arc::default() }
    }

    /// Waits until a call of the user may begin.
    pub(super) async fn turn(&self, holder: &Principal) {
        let Some(turn) = self.take(holder) else { return };
        // Nobody drops the other end before it is this call's turn.
        let _ = turn.await;
    }

    /// A turn at once, or what tells of it.
    fn take(&self, holder: &Principal) -> Option<oneshot::Receiver<()>> {
        let mut state = lock(&self.state);
        if state.is_alone(holder) {
            return None;
        }
        if !state.is_going_on {
            state.is_going_on = true;
            tokio::spawn(go_on(Arc::clone(&self.state), self.each));
        }
        let of = state.of.entry(holder.clone()).or_default();
        if of.begun < self.each && of.waiting.is_empty() {
            of.begun += 1;
            return None;
        }
        let (sender, receiver) = oneshot::channel();
        of.waiting.push_back(sender);
        Some(receiver)
    }
}

/// One round after another, until nobody has called in one.
async fn go_on(state: Arc<Mutex<State>>, each: usize) {
    loop {
        // Comes back when whoever is ready has run, and what arrived meanwhile was looked at.
        yield_now().await;
        let mut state = lock(&state);
        state.next(each);
        if state.of.is_empty() {
            state.is_going_on = false;
            return;
        }
    }
}

impl State {
    /// Whether nobody else has called of late.
    fn is_alone(&mut self, holder: &Principal) -> bool {
        if self.last.as_ref() != Some(holder) {
            let is_first = self.last.replace(holder.clone()).is_none();
            self.several_until = (!is_first).then(|| clock::now() + RECENT);
        }
        // The clock is read only while several call.
        self.several_until = self.several_until.filter(|until| clock::now() < *until);
        self.several_until.is_none()
    }

    /// The next round: those begin that have waited for longest. Users who did nothing in the last one are forgotten.
    fn next(&mut self, each: usize) {
        self.of.retain(|_, of| {
            of.begun = 0;
            while of.begun < each
                && let Some(waiting) = of.waiting.pop_front()
            {
                // Some have been given up.
                of.begun += usize::from(waiting.send(()).is_ok());
            }
            of.begun > 0
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

    /// In which order calls begin of these users, when all have arrived.
    async fn order(rounds: &Arc<RoundRobin>, users: &[&'static str]) -> String {
        let begun = Arc::new(Mutex::new(String::new()));
        let calls = users.iter().copied().map(|id| {
            let (rounds, begun) = (Arc::clone(rounds), Arc::clone(&begun));
            tokio::spawn(async move {
                rounds.turn(&user(id)).await;
                begun.lock().unwrap().push_str(id);
            })
        });
        for call in calls.collect::<Vec<_>>() {
            call.await.unwrap();
        }
        begun.lock().unwrap().clone()
    }

    #[tokio::test(start_paused = true)]
    async fn a_user_waits_for_a_round_of_anothers_flood_and_not_for_all_of_it() {
        let rounds = Arc::new(RoundRobin::new(2));
        rounds.turn(&user("b")).await;
        assert_eq!(order(&rounds, &["a", "a", "a", "a", "a", "a", "b", "c"]).await, "aabcaaaa");
        while lock(&rounds.state).is_going_on {
            yield_now().await;
        }
        assert!(lock(&rounds.state).of.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn who_calls_alone_is_not_held_back() {
        let rounds = RoundRobin::new(2);
        let all_at_once = || (0..100).all(|_| rounds.turn(&user("a")).now_or_never().is_some());
        assert!(all_at_once());
        rounds.turn(&user("b")).await;
        assert!(!all_at_once());
        advance(RECENT).await;
        assert!(all_at_once());
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_that_is_given_up_takes_no_turn() {
        let rounds = RoundRobin::new(1);
        rounds.turn(&user("b")).await;
        rounds.turn(&user("a")).await;
        let (given_up, mut next) = (rounds.take(&user("a")).unwrap(), rounds.take(&user("a")).unwrap());
        drop(given_up);
        lock(&rounds.state).next(1);
        assert_eq!(next.try_recv(), Ok(()));
    }
}
