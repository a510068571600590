//! The limiter under test, and the model of it that tries every millisecond and counts.

use std::{
    collections::BTreeMap,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::Poll,
    time::Duration,
};

use futures_util::poll;
use tokio::time::{Instant, advance};

use crate::upstream::limiter::{Budget, Budgets, Limiter, MemoryLimiter, Refused, schedule};
use toolwire_base::clock;
use toolwire_tool::context::UserId;

const SOURCE: &str = "here";

/// What happens to a limiter.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Pass { millis: u64 },
    Arrive { user: u8, patience: u64 },
    Leave { which: usize },
}

/// How a request came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    Through,
    Waits(u64),
    TooLate(u64),
    Crowded(u64),
}

pub(super) type Acquire = Pin<Box<dyn Future<Output = Result<(), Refused>> + Send>>;

/// The limiter under test, and when each request was admitted.
pub(super) struct Real {
    pub(super) limiter: Arc<MemoryLimiter>,
    pub(super) began: Instant,
    pub(super) waiting: BTreeMap<usize, Acquire>,
    pub(super) through: BTreeMap<usize, u64>,
}

/// The model: every request that counts, in order of arrival, in milliseconds.
pub(super) struct Model {
    pub(super) budgets: Budgets,
    pub(super) requests: Vec<Request>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub(super) number: usize,
    pub(super) user: u8,
    pub(super) at: u64,
}

pub(super) fn budget(max_requests: u32, window: u64, min_delay: u64) -> Budget {
    Budget {
        max_requests,
        window: Duration::from_millis(window),
        min_delay: Duration::from_millis(min_delay),
    }
}

pub(super) fn user(number: u8) -> UserId {
    format!("user-{number}").parse().unwrap()
}

pub(super) fn millis(duration: Duration) -> u64 {
    assert_eq!(duration.subsec_nanos() % 1_000_000, 0, "whole milliseconds");
    u64::try_from(duration.as_millis()).unwrap()
}

impl Real {
    pub(super) fn new(budgets: Budgets) -> Self {
        let limiter = Arc::new(MemoryLimiter::new([(SOURCE, budgets)]));
        Self { limiter, began: clock::now(), waiting: BTreeMap::new(), through: BTreeMap::new() }
    }

    pub(super) fn now(&self) -> u64 {
        millis(clock::now() - self.began)
    }

    pub(super) async fn arrive(&mut self, number: usize, by: u8, patience: u64) -> Arrival {
        let reported = Arc::new(AtomicU64::new(0));
        let deadline = clock::now() + Duration::from_millis(patience);
        let mut acquire: Acquire = Box::pin({
            let (limiter, reported) = (Arc::clone(&self.limiter), Arc::clone(&reported));
            async move {
                let report = |wait| reported.store(millis(wait), Ordering::Relaxed);
                limiter.acquire(SOURCE, &user(by), deadline, &report).await.map(drop)
            }
        });
        match poll!(&mut acquire) {
            Poll::Ready(Ok(())) => {
                self.through.insert(number, self.now());
                Arrival::Through
            }
            Poll::Ready(Err(Refused::TooLate { at })) => Arrival::TooLate(millis(at - self.began)),
            Poll::Ready(Err(Refused::Crowded { at })) => Arrival::Crowded(millis(at - self.began)),
            Poll::Ready(Err(Refused::Uncounted)) => unreachable!("this limiter needs no state"),
            Poll::Pending => {
                self.waiting.insert(number, acquire);
                Arrival::Waits(self.now() + reported.load(Ordering::Relaxed))
            }
        }
    }

    /// A millisecond passes. Returns the requests that are admitted at its end.
    pub(super) async fn pass(&mut self) {
        advance(Duration::from_millis(1)).await;
        self.look().await;
    }

    pub(super) async fn look(&mut self) {
        let now = self.now();
        for (number, mut acquire) in std::mem::take(&mut self.waiting) {
            match poll!(&mut acquire) {
                Poll::Ready(end) => {
                    assert_eq!(end, Ok(()));
                    self.through.insert(number, now);
                }
                Poll::Pending => {
                    self.waiting.insert(number, acquire);
                }
            }
        }
    }

    /// The caller that has waited longest comes first; that one leaves.
    pub(super) fn leave(&mut self, which: usize) -> Option<usize> {
        let number = *self.waiting.keys().nth(which % self.waiting.len().max(1))?;
        self.waiting.remove(&number);
        Some(number)
    }

    pub(super) async fn wait_time(&self, by: u8) -> u64 {
        millis(self.limiter.wait_time(SOURCE, &user(by)).await)
    }
}

impl Model {
    pub(super) fn new(budgets: Budgets) -> Self {
        Self { budgets, requests: Vec::new() }
    }

    /// Tries one instant after the other.
    pub(super) fn earliest(&self, user: u8, now: u64) -> u64 {
        (now..1_000_000).find(|at| self.allows(user, *at)).unwrap()
    }

    pub(super) fn allows(&self, user: u8, at: u64) -> bool {
        let all: Vec<_> = self.requests.iter().map(|request| request.at).chain([at]).collect();
        let own = self.requests.iter().filter(|request| request.user == user).map(|request| request.at);
        let own: Vec<_> = own.chain([at]).collect();
        keeps(&self.budgets.ceiling, &all) && keeps(&self.budgets.per_user, &own)
    }

    pub(super) fn arrive(&mut self, number: usize, user: u8, now: u64, patience: u64) -> Arrival {
        let at = self.earliest(user, now);
        let waiting = self.requests.iter().filter(|request| request.user == user && request.at > now).count();
        if at > now + patience {
            return Arrival::TooLate(at);
        }
        if at > now && waiting >= schedule::MAX_WAITERS {
            return Arrival::Crowded(at);
        }
        self.requests.push(Request { number, user, at });
        if at == now { Arrival::Through } else { Arrival::Waits(at) }
    }

    pub(super) fn leave(&mut self, number: usize, now: u64) {
        self.requests.retain(|request| request.number != number);
        while self.move_up(now) {}
    }

    pub(super) fn move_up(&mut self, now: u64) -> bool {
        let mut any = false;
        for index in 0..self.requests.len() {
            let request = self.requests[index];
            if request.at <= now {
                continue;
            }
            self.requests.remove(index);
            let at = self.earliest(request.user, now);
            assert!(at <= request.at, "a reservation moved later");
            any |= at < request.at;
            self.requests.insert(index, Request { at, ..request });
        }
        any
    }

    pub(super) fn through(&self, now: u64) -> BTreeMap<usize, u64> {
        let past = self.requests.iter().filter(|request| request.at <= now);
        past.map(|request| (request.number, request.at)).collect()
    }
}

/// Whether the instants keep a budget: counted, not computed.
pub(super) fn keeps(budget: &Budget, instants: &[u64]) -> bool {
    let (window, delay) = (millis(budget.window), millis(budget.min_delay));
    instants.iter().enumerate().all(|(index, begin)| {
        let within = instants.iter().filter(|at| (*begin..*begin + window).contains(at)).count();
        let apart = instants[..index].iter().all(|other| begin.abs_diff(*other) >= delay);
        within <= budget.max_requests as usize && apart
    })
}
