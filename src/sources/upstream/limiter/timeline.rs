//! A timeline: the instants of requests made and reserved under one budget, and where one more fits.
//!
//! Pure arithmetic on nanoseconds: no clock, no waiting.

use std::collections::VecDeque;

use super::Budget;
pub(super) use toolwire_state::reservations::nanos;

/// Nanoseconds since an epoch that the owner chose.
pub(in crate::upstream) type Nanos = u64;

/// The requests under one budget, in order of time.
#[derive(Clone, Debug)]
pub(super) struct Timeline {
    rules: [Rule; 2],
    instants: VecDeque<Nanos>,
}

/// At most `most` requests in any `span`, its end excluded. A spacing is such a rule too: at most one.
#[derive(Clone, Copy, Debug)]
struct Rule {
    most: usize,
    span: Nanos,
}

impl Timeline {
    /// A timeline without requests. A budget of no requests at all counts as one of a single request.
    pub(super) fn new(budget: &Budget) -> Self {
        let most = usize::try_from(budget.max_requests.max(1)).unwrap_or(usize::MAX);
        let window = Rule { most, span: nanos(budget.window) };
        let spacing = Rule { most: 1, span: nanos(budget.min_delay) };
        Self { rules: [window, spacing], instants: VecDeque::new() }
    }

    /// The earliest instant, `from` on, at which one more request breaks no rule for any request on the timeline.
    pub(super) fn earliest(&self, from: Nanos) -> Nanos {
        let mut at = from;
        loop {
            let next = self.rules.iter().fold(at, |at, rule| rule.earliest(&self.instants, at));
            if next == at {
                return at;
            }
            at = next;
        }
    }

    /// The number of requests that count in the window which ends now, and of those reserved after it.
    pub(super) fn used(&self, now: Nanos) -> u32 {
        let [window, _] = self.rules;
        let over = self.instants.partition_point(|instant| instant.saturating_add(window.span) <= now);
        u32::try_from(self.instants.len() - over).unwrap_or(u32::MAX)
    }

    pub(super) fn insert(&mut self, at: Nanos) {
        let index = self.instants.partition_point(|instant| *instant <= at);
        self.instants.insert(index, at);
    }

    /// Takes a request away, if it is there.
    pub(super) fn remove(&mut self, at: Nanos) {
        if let Ok(index) = self.instants.binary_search(&at) {
            self.instants.remove(index);
        }
    }

    /// Forgets the requests that are older than every window.
    pub(super) fn forget(&mut self, now: Nanos) {
        let span = self.rules.iter().map(|rule| rule.span).max().unwrap_or_default();
        while self.instants.front().is_some_and(|first| first.saturating_add(span) <= now) {
            self.instants.pop_front();
        }
    }

    /// Whether it remembers no request.
    pub(super) fn is_empty(&self) -> bool {
        self.instants.is_empty()
    }

    /// The age at which a request is older than every window.
    pub(super) fn memory(budget: &Budget) -> Nanos {
        nanos(budget.window.max(budget.min_delay))
    }
}

impl Rule {
    /// The instant itself if it breaks nothing, else the first after it that may not.
    ///
    /// `most` neighbours closer together than `span` forbid whatever lies within `span` of all of them. Such groups
    /// begin and end in order, so the last that begins to forbid before `at` decides.
    fn earliest(self, instants: &VecDeque<Nanos>, at: Nanos) -> Nanos {
        let Self { most, span } = self;
        let reached = instants.partition_point(|instant| *instant < at.saturating_add(span));
        let groups = (reached + 1).saturating_sub(most);
        for begin in (0..groups).rev() {
            let (first, last) = (instants[begin], instants[begin + most - 1]);
            let free = first.saturating_add(span);
            if free <= at {
                break;
            }
            if last - first < span {
                return free;
            }
        }
        at
    }
}
