//! The limiter against a model that tries every millisecond and counts.

mod model;

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use model::{Arrival, Model, Real, Step, budget, keeps, user};
use toolwire_base::clock;

/// Runs the steps on limiter and model side by side.
async fn run(budgets: Budgets, steps: &[Step]) {
    let (mut real, mut model) = (Real::new(budgets), Model::new(budgets));
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
    assert!(keeps(&budgets.ceiling, &all));
    for user in 0..=u8::MAX {
        let own = model.requests.iter().filter(|request| request.user == user);
        let own: Vec<_> = own.map(|request| real.through[&request.number]).collect();
        assert!(keeps(&budgets.per_user, &own));
    }
}

/// When each request that stays is admitted. Some leave after a later step.
async fn schedule_of(budgets: Budgets, steps: &[Step], leaving: &[(usize, usize)]) -> BTreeMap<usize, u64> {
    let mut real = Real::new(budgets);
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

fn a_budget() -> impl Strategy<Value = Budget> {
    (1..5_u32, 1..24_u64, 0..8_u64).prop_map(|(most, window, delay)| budget(most, window, delay))
}

fn some_budgets() -> impl Strategy<Value = Budgets> {
    (a_budget(), a_budget()).prop_map(|(per_user, ceiling)| Budgets { per_user, ceiling })
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
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_limiter_does_what_counting_every_millisecond_says(
        budgets in some_budgets(),
        steps in prop::collection::vec(a_step(), 1..60),
    ) {
        paused(run(budgets, &steps));
    }

    #[test]
    fn a_user_who_leaves_costs_that_user_nothing(
        own in a_budget(),
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
        let budgets = Budgets { per_user: own, ceiling: own };
        let left = paused(schedule_of(budgets, &steps(true), &leaving));
        let never_came = paused(schedule_of(budgets, &steps(false), &[]));
        // One that was admitted before it could leave has cost what it has cost.
        prop_assume!(!leaving.is_empty() && leaving.iter().all(|(number, _)| !left.contains_key(number)));
        prop_assert_eq!(left, never_came);
    }
}

#[tokio::test(start_paused = true)]
async fn a_budget_spaces_requests_and_fills_its_window() {
    let own = budget(12, 60_000, 5_000);
    let mut real = Real::new(Budgets { per_user: own, ceiling: own });
    assert_eq!(real.arrive(0, 0, 60_000).await, Arrival::Through);
    for number in 1..=12 {
        assert_eq!(real.arrive(number, 0, 60_000).await, Arrival::Waits(number as u64 * 5_000));
    }
    assert_eq!(real.arrive(13, 0, 60_000).await, Arrival::TooLate(65_000));
    assert_eq!(real.wait_time(0).await, 65_000);
}

#[tokio::test(start_paused = true)]
async fn what_comes_too_late_learns_when_it_would_be_admitted() {
    let own = budget(1, 1_000, 0);
    let mut real = Real::new(Budgets { per_user: own, ceiling: own });
    assert_eq!(real.arrive(0, 0, 0).await, Arrival::Through);
    assert_eq!(real.arrive(1, 0, 999).await, Arrival::TooLate(1_000));
    // Nothing was reserved by it: the next one gets that very instant.
    assert_eq!(real.arrive(2, 0, 1_000).await, Arrival::Waits(1_000));
}

#[tokio::test(start_paused = true)]
async fn a_reservation_in_the_way_of_another_that_could_move_up_stays() {
    let budgets = Budgets { per_user: budget(2, 100, 35), ceiling: budget(100, 1, 10) };
    let mut real = Real::new(budgets);
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
    let budgets = Budgets { per_user: budget(2, 100, 10), ceiling: budget(5, 20, 2) };
    let mut real = Real::new(budgets);
    for number in 0..150_usize {
        real.arrive(number, u8::try_from(number % 50).unwrap(), 100_000).await;
    }
    while !real.waiting.is_empty() {
        real.pass().await;
    }
    let all: Vec<_> = real.through.values().copied().collect();
    assert!(keeps(&budgets.ceiling, &all));
    assert!(all.is_sorted(), "first come, first served");
    // 30 rounds of five, 20 ms apart, the last of them 8 ms long: nothing is left lying.
    assert_eq!(all.last(), Some(&(29 * 20 + 8)));
}

#[tokio::test(start_paused = true)]
async fn a_crowd_of_one_user_is_no_crowd_for_another() {
    let budgets = Budgets { per_user: budget(1, 10, 0), ceiling: budget(100, 10, 0) };
    let mut real = Real::new(budgets);
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
fn what_is_used_counts_while_it_waits_and_in_the_window() {
    const MS: Nanos = 1_000_000;
    let budgets = Budgets { per_user: budget(2, 1, 0), ceiling: budget(10, 5, 0) };
    let mut schedule = schedule::Schedule::new(budgets);
    // The third request of the first user waits until 1 ms.
    for number in [0, 0, 0, 1] {
        schedule.reserve(&user(number), 0, u64::MAX);
    }
    let mut used = |number, now| {
        let usage = schedule.usage_behind(&user(number), now, 0);
        (usage.of_user, usage.of_all)
    };
    assert_eq!((used(0, 0), used(1, 0), used(2, 0)), ((3, 4), (1, 4), (0, 4)));
    assert_eq!((used(0, MS - 1), used(0, MS)), ((3, 4), (1, 4)));
    assert_eq!((used(0, 2 * MS), used(0, 5 * MS), used(0, 6 * MS)), ((0, 4), (0, 1), (0, 0)));
}

#[test]
fn users_whose_windows_are_empty_are_forgotten() {
    let budgets = Budgets { per_user: budget(2, 1_000, 10), ceiling: budget(1_000_000, 1, 0) };
    let mut schedule = schedule::Schedule::new(budgets);
    for number in 0..1_000 {
        let user = format!("user-{number}").parse().unwrap();
        assert!(matches!(schedule.reserve(&user, number, u64::MAX), schedule::Placement::Now));
    }
    assert_eq!(schedule.user_count(), 1_000);
    schedule.reserve(&user(0), 1_000_000_000 + 999, u64::MAX);
    assert_eq!(schedule.user_count(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_source_without_a_row_is_not_limited() {
    let limiter = MemoryLimiter::new(Vec::<(String, Budgets)>::new());
    for _ in 0..100 {
        let admitted = limiter.acquire("elsewhere", &user(0), clock::now(), &|_| {}).await;
        assert_eq!(admitted, Ok(Permit::Unlimited));
    }
    assert_eq!(limiter.budgets("elsewhere"), None);
}
