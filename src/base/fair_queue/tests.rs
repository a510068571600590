//! The promised order holds for any sequence of arrivals, releases and abandoned waits.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;

/// What happens to something that keys share.
#[derive(Clone, Debug)]
enum Step {
    Arrive(u8),
    /// One of those that hold something ends.
    Release(usize),
    /// One of those that wait gives up.
    Cancel(usize),
}

/// Something scarce over the queue, and what was seen of it.
struct Shared {
    queue: FairQueue<u8, usize>,
    free: usize,
    /// The keys that hold something, once for each.
    holding: Vec<u8>,
    /// By the number of the arrival.
    waiting: BTreeMap<usize, (u8, Ticket)>,
    /// Of a key that waits, those that were served though they held as much, since it was served or released something.
    ahead: BTreeMap<u8, BTreeSet<u8>>,
}

impl Shared {
    fn of(amount: usize) -> Self {
        let (queue, holding) = (FairQueue::default(), Vec::new());
        Self { queue, free: amount, holding, waiting: BTreeMap::new(), ahead: BTreeMap::new() }
    }

    fn held(&self, key: u8) -> usize {
        self.holding.iter().map(|it| usize::from(*it == key)).sum()
    }

    fn keys_that_wait(&self) -> BTreeSet<u8> {
        self.waiting.values().map(|(key, _)| *key).collect()
    }

    fn step(&mut self, number: usize, step: &Step) {
        match *step {
            Step::Arrive(key) if self.free > 0 => {
                self.free -= 1;
                self.queue.hold(&key);
                self.holding.push(key);
            }
            Step::Arrive(key) => {
                let ticket = self.queue.push(&key, number);
                self.waiting.insert(number, (key, ticket));
            }
            Step::Release(at) if !self.holding.is_empty() => {
                let key = self.holding.swap_remove(at % self.holding.len());
                self.queue.release(&key);
                self.ahead.remove(&key);
                self.free += 1;
                self.serve();
            }
            Step::Cancel(at) if !self.waiting.is_empty() => {
                let number = *self.waiting.keys().nth(at % self.waiting.len()).unwrap();
                let (key, ticket) = self.waiting.remove(&number).unwrap();
                assert_eq!(self.queue.cancel(&key, ticket), Some(number));
                assert_eq!(self.queue.cancel(&key, ticket), None, "it has gone");
            }
            Step::Release(_) | Step::Cancel(_) => {}
        }
        assert!(self.free == 0 || self.waiting.is_empty(), "something is free while somebody waits");
        let waiting = self.keys_that_wait();
        self.ahead.retain(|key, _| waiting.contains(key));
        for key in 0..KEYS {
            let of_key = self.waiting.values().filter(|(it, _)| *it == key).count();
            assert_eq!((self.queue.held(&key), self.queue.waiting(&key)), (self.held(key), of_key));
        }
    }

    fn serve(&mut self) {
        let Some((key, number)) = self.queue.pop(|_| usize::MAX, |_| true) else { return };
        let first = self.waiting.iter().find(|(_, (it, _))| *it == key).map(|(number, _)| *number);
        assert_eq!(first, Some(number), "first come, first served within a key");
        let held = self.held(key);
        for other in self.keys_that_wait() {
            assert!(held <= self.held(other), "{key} is served while {other} waits and holds less");
            if other != key && held == self.held(other) {
                let is_first_time = self.ahead.entry(other).or_default().insert(key);
                assert!(is_first_time, "{key} is served twice while {other} waits and holds as much");
            }
        }
        self.ahead.remove(&key);
        self.waiting.remove(&number);
        self.free -= 1;
        self.holding.push(key);
    }
}

const KEYS: u8 = 6;

fn a_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..KEYS).prop_map(Step::Arrive),
        3 => any::<usize>().prop_map(Step::Release),
        1 => any::<usize>().prop_map(Step::Cancel),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn who_holds_least_is_served_and_nobody_is_passed_over(
        amount in 1..6_usize,
        steps in prop::collection::vec(a_step(), 1..200),
    ) {
        let mut shared = Shared::of(amount);
        for (number, step) in steps.iter().enumerate() {
            shared.step(number, step);
        }
        while !shared.holding.is_empty() {
            shared.step(usize::MAX, &Step::Release(0));
        }
        prop_assert!(shared.waiting.is_empty() && shared.queue.is_unused());
    }
}

#[test]
fn only_what_fits_is_taken_and_of_no_key_that_has_its_limit() {
    let mut queue = FairQueue::default();
    for waiter in ["old 1", "new 1", "new 2"] {
        queue.push(&"a", waiter);
    }
    queue.push(&"b", "old 2");
    queue.hold(&"b");
    let mut next = |limit: usize, version| queue.pop(|_| limit, |waiter: &&str| waiter.starts_with(version));
    assert_eq!(next(1, "old"), Some(("a", "old 1")));
    assert_eq!(next(1, "new"), None, "each has one");
    assert_eq!(next(2, "old"), Some(("b", "old 2")));
    assert_eq!(next(2, "new"), Some(("a", "new 1")));
    queue.retain(|waiter| !waiter.starts_with("new"));
    assert_eq!(queue.pop(|_| 9, |_| true), None);
}
