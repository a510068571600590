//! The limiter against a model that tries every millisecond and counts.

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
use proptest::prelude::*;
use tokio::time::{Instant, advance};

use super::*;
use crate::clock;

const SOURCE: &str = "here";

/// What happens to a limiter.
#[derive(Clone, Debug)]
enum Step {
    Pass { millis: u64 },
    Arrive { user: u8, patience: u64 },
    Leave { which: usize },
}

/// How a request came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arrival {
    Through,
    Waits(u64),
    TooLate(u64),
    Crowded(u64),
}

type Acquire = Pin<Box<dyn Future<Output = Result<(), Refused>> + Send>>;

/// The limiter under test, and when each request was let through.
struct Real {
    limiter: Arc<MemoryLimiter>,
    began: Instant,
    waiting: BTreeMap<usize, Acquire>,
    through: BTreeMap<usize, u64>,
}

/// The model: every request that counts, in order of arrival, in milliseconds.
struct Model {
    policy: SourcePolicy,
    requests: Vec<Request>,
}

#[derive(Clone, Copy, Debug)]
struct Request {
    number: usize,
    user: u8,
    at: u64,
}

fn policy(max_requests: u32, window: u64, min_delay: u64) -> Policy {
    Policy {
        max_requests,
        window: Duration::from_millis(window),
        min_delay: Duration::from_millis(min_delay),
    }
}

fn user(number: u8) -> UserId {
    format!("user-{number}").parse().unwrap()
}

fn millis(duration: Duration) -> u64 {
    assert_eq!(duration.subsec_nanos() % 1_000_000, 0, "whole milliseconds");
    u64::try_from(duration.as_millis()).unwrap()
}

impl Real {
    fn new(policy: SourcePolicy) -> Self {
        let limiter = Arc::new(MemoryLimiter::new([(SOURCE, policy)]));
        Self { limiter, began: clock::now(), waiting: BTreeMap::new(), through: BTreeMap::new() }
    }

    fn now(&self) -> u64 {
        millis(clock::now() - self.began)
    }

    async fn arrive(&mut self, number: usize, by: u8, patience: u64) -> Arrival {
        let told = Arc::new(AtomicU64::new(0));
        let deadline = clock::now() + Duration::from_millis(patience);
        let mut acquire: Acquire = Box::pin({
            let (limiter, told) = (Arc::clone(&self.limiter), Arc::clone(&told));
            async move {
                let tell = |wait| told.store(millis(wait), Ordering::Relaxed);
                limiter.acquire(SOURCE, &user(by), deadline, &tell).await
            }
        });
        match poll!(&mut acquire) {
            Poll::Ready(Ok(())) => {
                self.through.insert(number, self.now());
                Arrival::Through
            }
            Poll::Ready(Err(Refused::TooLate { at })) => Arrival::TooLate(millis(at - self.began)),
            Poll::Ready(Err(Refused::Crowded { at })) => Arrival::Crowded(millis(at - self.began)),
            Poll::Pending => {
                self.waiting.insert(number, acquire);
                Arrival::Waits(self.now() + told.load(Ordering::Relaxed))
            }
        }
    }

    /// A millisecond passes: who is let through at its end.
    async fn pass(&mut self) {
        advance(Duration::from_millis(1)).await;
        self.look().await;
    }

    async fn look(&mut self) {
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

    /// Who waits longest ago first; that one leaves.
    fn leave(&mut self, which: usize) -> Option<usize> {
        let number = *self.waiting.keys().nth(which % self.waiting.len().max(1))?;
        self.waiting.remove(&number);
        Some(number)
    }

    async fn wait_time(&self, by: u8) -> u64 {
        millis(self.limiter.wait_time(SOURCE, &user(by)).await)
    }
}

impl Model {
    fn new(policy: SourcePolicy) -> Self {
        Self { policy, requests: Vec::new() }
    }

    /// Tries one instant after the other.
    fn earliest(&self, user: u8, now: u64) -> u64 {
        (now..).find(|at| self.allows(user, *at)).unwrap()
    }

    fn allows(&self, user: u8, at: u64) -> bool {
        let all: Vec<_> = self.requests.iter().map(|request| request.at).chain([at]).collect();
        let own = self.requests.iter().filter(|request| request.user == user).map(|request| request.at);
        let own: Vec<_> = own.chain([at]).collect();
        keeps(&self.policy.ceiling, &all) && keeps(&self.policy.per_user, &own)
    }

    fn arrive(&mut self, number: usize, user: u8, now: u64, patience: u64) -> Arrival {
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

    fn leave(&mut self, number: usize, now: u64) {
        self.requests.retain(|request| request.number != number);
        while self.move_up(now) {}
    }

    fn move_up(&mut self, now: u64) -> bool {
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

    fn through(&self, now: u64) -> BTreeMap<usize, u64> {
        let past = self.requests.iter().filter(|request| request.at <= now);
        past.map(|request| (request.number, request.at)).collect()
    }
}

/// Whether the instants keep a budget: counted, not computed.
fn keeps(policy: &Policy, instants: &[u64]) -> bool {
    let (window, delay) = (millis(policy.window), millis(policy.min_delay));
    instants.iter().enumerate().all(|(index, begin)| {
        let within = instants.iter().filter(|at| (*begin..*begin + window).contains(at)).count();
        let apart = instants[..index].iter().all(|other| begin.abs_diff(*other) >= delay);
        within <= policy.max_requests as usize && apart
    })
}

/// Runs the steps on limiter and model side by side.
async fn run(policy: SourcePolicy, steps: &[Step]) {
    let (mut real, mut model) = (Real::new(policy), Model::new(policy));
    for (number, step) in steps.iter().enumerate() {
        match *step {
            Step::Pass { millis } => {
                for _ in 0..millis {
                    real.pass().await;
                    assert_eq!(real.through, model.through(real.now()));
                }
            }
            Step::Arrive { user, patience } => {
                let now = real.now();
                assert_eq!(real.wait_time(user).await, model.earliest(user, now) - now);
                let expected = model.arrive(number, user, now, patience);
                assert_eq!(real.arrive(number, user, patience).await, expected);
            }
            Step::Leave { which } => {
                if let Some(number) = real.leave(which) {
                    model.leave(number, real.now());
                    real.look().await;
                }
            }
        }
    }
    while !real.waiting.is_empty() {
        real.pass().await;
    }
    assert_eq!(real.through, model.through(u64::MAX));
    let all: Vec<_> = real.through.values().copied().collect();
    assert!(keeps(&policy.ceiling, &all));
    for user in 0..=u8::MAX {
        let own = model.requests.iter().filter(|request| request.user == user);
        let own: Vec<_> = own.map(|request| real.through[&request.number]).collect();
        assert!(keeps(&policy.per_user, &own));
    }
}

/// When each request that stays is let through. Some leave after a later step.
async fn schedule_of(
    policy: SourcePolicy,
    steps: &[Step],
    leaving: &[(usize, usize)],
) -> BTreeMap<usize, u64> {
    let mut real = Real::new(policy);
    for (number, step) in steps.iter().enumerate() {
        match *step {
            Step::Pass { millis } => {
                for _ in 0..millis {
                    real.pass().await;
                }
            }
            Step::Arrive { user, patience } => {
                real.arrive(number, user, patience).await;
            }
            Step::Leave { .. } => {}
        }
        for (leaver, _) in leaving.iter().filter(|(_, after)| *after == number) {
            real.waiting.remove(leaver);
        }
        real.look().await;
    }
    for (leaver, _) in leaving {
        real.waiting.remove(leaver);
    }
    while !real.waiting.is_empty() {
        real.pass().await;
    }
    real.through
}

fn paused<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.unwrap().block_on(future)
}

fn a_policy() -> impl Strategy<Value = Policy> {
    (1..5_u32, 1..24_u64, 0..8_u64).prop_map(|(most, window, delay)| policy(most, window, delay))
}

fn a_source_policy() -> impl Strategy<Value = SourcePolicy> {
    (a_policy(), a_policy()).prop_map(|(per_user, ceiling)| SourcePolicy { per_user, ceiling })
}

fn a_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => (1..12_u64).prop_map(|millis| Step::Pass { millis }),
        5 => (0..4_u8, prop_oneof![0..40_u64, Just(100_000)])
            .prop_map(|(user, patience)| Step::Arrive { user, patience }),
        1 => (0..64_usize).prop_map(|which| Step::Leave { which }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_limiter_does_what_counting_every_millisecond_says(
        policy in a_source_policy(),
        steps in prop::collection::vec(a_step(), 1..60),
    ) {
        paused(run(policy, &steps));
    }

    #[test]
    fn a_user_who_leaves_costs_that_user_nothing(
        own in a_policy(),
        arrivals in prop::collection::vec((0..4_u64, prop::option::weighted(0.4, 0..4_usize)), 2..15),
    ) {
        // Step 2n + 1 is an arrival, in the second run a pause in place of those that leave in the first.
        let steps = |with_leavers: bool| {
            let mut steps = Vec::new();
            for (gap, leaves) in &arrivals {
                let arrives = with_leavers || leaves.is_none();
                steps.push(Step::Pass { millis: *gap });
                steps.push(if arrives { Step::Arrive { user: 0, patience: 100_000 } } else { Step::Pass { millis: 0 } });
            }
            steps
        };
        let leaving: Vec<_> = arrivals.iter().enumerate().filter_map(|(index, (_, after))| {
            Some((2 * index + 1, 2 * (index + (*after)?) + 1))
        }).collect();
        let policy = SourcePolicy { per_user: own, ceiling: own };
        let left = paused(schedule_of(policy, &steps(true), &leaving));
        let never_came = paused(schedule_of(policy, &steps(false), &[]));
        // One that was let through before it could leave has cost what it has cost.
        prop_assume!(!leaving.is_empty() && leaving.iter().all(|(number, _)| !left.contains_key(number)));
        prop_assert_eq!(left, never_came);
    }
}

#[tokio::test(start_paused = true)]
async fn spec_004_spaces_requests_and_fills_its_window() {
    let own = policy(12, 60_000, 5_000);
    let mut real = Real::new(SourcePolicy { per_user: own, ceiling: own });
    assert_eq!(real.arrive(0, 0, 60_000).await, Arrival::Through);
    for number in 1..=12 {
        assert_eq!(real.arrive(number, 0, 60_000).await, Arrival::Waits(number as u64 * 5_000));
    }
    assert_eq!(real.arrive(13, 0, 60_000).await, Arrival::TooLate(65_000));
    assert_eq!(real.wait_time(0).await, 65_000);
}

#[tokio::test(start_paused = true)]
async fn what_comes_too_late_is_told_when_it_would_have_been_let_through() {
    let own = policy(1, 1_000, 0);
    let mut real = Real::new(SourcePolicy { per_user: own, ceiling: own });
    assert_eq!(real.arrive(0, 0, 0).await, Arrival::Through);
    assert_eq!(real.arrive(1, 0, 999).await, Arrival::TooLate(1_000));
    // Nothing was reserved by it: the next one gets that very instant.
    assert_eq!(real.arrive(2, 0, 1_000).await, Arrival::Waits(1_000));
}

#[tokio::test(start_paused = true)]
async fn a_reservation_in_the_way_of_another_that_could_move_up_stays() {
    let policies = SourcePolicy { per_user: policy(2, 100, 35), ceiling: policy(100, 1, 10) };
    let mut real = Real::new(policies);
    // Their own budgets free user 0 at 130, user 1 at 125, user 2 at 118.
    for (number, (at, user)) in [(25, 1_u8), (60, 1), (83, 2), (95, 0)].into_iter().enumerate() {
        while real.now() < at {
            real.pass().await;
        }
        assert_eq!(real.arrive(number, user, 0).await, Arrival::Through);
    }
    assert_eq!(real.arrive(10, 0, 1_000).await, Arrival::Waits(130));
    assert_eq!(real.arrive(11, 1, 1_000).await, Arrival::Waits(140));
    assert_eq!(real.arrive(12, 2, 1_000).await, Arrival::Waits(118));
    assert_eq!(real.leave(0), Some(10));
    while !real.waiting.is_empty() {
        real.pass().await;
    }
    // Had user 0 never come, user 1 would have had 125, and user 2 only 135.
    assert_eq!((real.through[&11], real.through[&12]), (128, 118));
}

#[tokio::test(start_paused = true)]
async fn fifty_users_share_one_ceiling_in_the_order_of_their_arrival() {
    let policies = SourcePolicy { per_user: policy(2, 100, 10), ceiling: policy(5, 20, 2) };
    let mut real = Real::new(policies);
    for number in 0..150_usize {
        real.arrive(number, u8::try_from(number % 50).unwrap(), 100_000).await;
    }
    while !real.waiting.is_empty() {
        real.pass().await;
    }
    let all: Vec<_> = real.through.values().copied().collect();
    assert!(keeps(&policies.ceiling, &all));
    assert!(all.is_sorted(), "first come, first served");
    // 30 rounds of five, 20 ms apart, the last of them 8 ms long: nothing is left lying.
    assert_eq!(all.last(), Some(&(29 * 20 + 8)));
}

#[tokio::test(start_paused = true)]
async fn a_crowd_of_one_user_is_no_crowd_for_another() {
    let policies = SourcePolicy { per_user: policy(1, 10, 0), ceiling: policy(100, 10, 0) };
    let mut real = Real::new(policies);
    assert_eq!(real.arrive(0, 0, 0).await, Arrival::Through);
    for number in 1..=schedule::MAX_WAITERS {
        assert!(matches!(real.arrive(number, 0, 100_000).await, Arrival::Waits(_)));
    }
    assert_eq!(real.arrive(17, 0, 100_000).await, Arrival::Crowded(170));
    assert_eq!(real.arrive(18, 1, 0).await, Arrival::Through);
    real.leave(0);
    assert_eq!(real.arrive(19, 0, 100_000).await, Arrival::Waits(160));
}

#[test]
fn users_whose_windows_are_empty_are_forgotten() {
    let policies = SourcePolicy { per_user: policy(2, 1_000, 10), ceiling: policy(1_000_000, 1, 0) };
    let mut schedule = schedule::Schedule::new(policies);
    for number in 0..1_000 {
        let user = format!("user-{number}").parse().unwrap();
        assert!(matches!(schedule.reserve(&user, number, u64::MAX), schedule::Found::Now));
    }
    assert_eq!(schedule.remembered(), 1_000);
    schedule.reserve(&user(0), 1_000_000_000 + 999, u64::MAX);
    assert_eq!(schedule.remembered(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_source_without_a_row_is_not_limited() {
    let limiter = MemoryLimiter::new(Vec::<(String, SourcePolicy)>::new());
    for _ in 0..100 {
        assert_eq!(limiter.acquire("elsewhere", &user(0), clock::now(), &|_| {}).await, Ok(()));
    }
    assert_eq!(limiter.policy("elsewhere"), None);
}
