//! Statistics of the calls that ended lately: how many, how, and how long they took, by the second.
//!
//! Kept under the lock of the running calls, which the end of a call takes anyway. Calls that tools make are parts of
//! other calls and are not counted.

use std::{
    collections::{HashMap, VecDeque},
    time::{Duration, SystemTime},
};

use tokio::time::Instant;

use super::CallEnd;
use toolwire_base::clock;
use toolwire_contract::ErrorCode;
use toolwire_tool::context::UserId;

/// The number of seconds that are kept.
pub const KEPT_SECONDS: u32 = 900;

/// The upper bounds of durations, by which calls are counted.
pub const LATENCY_BOUNDS: [Duration; 16] = [
    Duration::from_millis(1),
    Duration::from_millis(2),
    Duration::from_millis(5),
    Duration::from_millis(10),
    Duration::from_millis(20),
    Duration::from_millis(50),
    Duration::from_millis(100),
    Duration::from_millis(200),
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(5),
    Duration::from_secs(10),
    Duration::from_secs(20),
    Duration::from_mins(1),
    Duration::from_mins(2),
];

/// One more than the bounds, for calls that took longer.
const BINS: usize = LATENCY_BOUNDS.len() + 1;

/// Maximum number of users whose calls of one second are counted apart; those of others are counted among all.
const MAX_USERS: usize = 128;

/// The calls that ended in a length of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub calls: u32,
    /// Those that failed, by code.
    pub errors: Vec<(ErrorCode, u32)>,
    /// Those that took at most as long as each of [`LATENCY_BOUNDS`], and those that took longer than all.
    pub latencies: [u32; BINS],
}

/// The calls that ended in one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatsBucket {
    pub begin: SystemTime,
    pub counts: Counts,
}

/// The steps for which calls are counted, each this many seconds long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steps {
    pub seconds: u32,
    pub count: u32,
}

#[derive(Debug)]
pub(super) struct Stats {
    /// Seconds are counted from here.
    epoch: Instant,
    /// Those in which calls ended, in order of time.
    seconds: VecDeque<Second>,
}

#[derive(Debug)]
struct Second {
    number: u64,
    all: Counts,
    by_user: HashMap<UserId, Counts, foldhash::fast::FixedState>,
}

impl Default for Stats {
    fn default() -> Self {
        Self { epoch: clock::now(), seconds: VecDeque::new() }
    }
}

impl Stats {
    /// Counts a call that ended at `now`.
    pub(super) fn count(&mut self, now: Instant, user: &UserId, took: Duration, end: CallEnd) {
        let number = self.number(now);
        if self.seconds.back().is_none_or(|last| last.number < number) {
            let oldest = number.saturating_sub(u64::from(KEPT_SECONDS));
            while self.seconds.front().is_some_and(|first| first.number < oldest) {
                self.seconds.pop_front();
            }
            let (all, by_user) = (Counts::default(), HashMap::default());
            self.seconds.push_back(Second { number, all, by_user });
        }
        let Some(second) = self.seconds.back_mut() else { return };
        second.all.count(took, end);
        if let Some(own) = second.by_user.get_mut(user) {
            own.count(took, end);
        } else if second.by_user.len() < MAX_USERS {
            second.by_user.entry(user.clone()).or_default().count(took, end);
        }
    }

    /// The steps up to the last second that is over, the oldest first: the calls of a user, or of all users.
    pub(super) fn buckets(&self, user: Option<&UserId>, steps: Steps) -> Vec<StatsBucket> {
        let (now, wall) = (clock::now(), clock::wall());
        let Steps { seconds, count } = steps;
        let end = self.number(now);
        let back = |step: u32| u64::from(seconds) * u64::from(count - step);
        // Steps before the process began are empty.
        let mut buckets: Vec<_> = (0..count)
            .map(|step| {
                let age = now - self.epoch + Duration::from_secs(back(step));
                let age = age.saturating_sub(Duration::from_secs(end));
                StatsBucket { begin: wall - age, counts: Counts::default() }
            })
            .collect();
        for second in self.seconds.iter().rev().skip_while(|second| second.number >= end) {
            let age = end - second.number;
            if age > back(0) {
                break;
            }
            let own = user.map_or(Some(&second.all), |user| second.by_user.get(user));
            let index = usize::try_from((back(0) - age) / u64::from(seconds)).unwrap_or_default();
            if let (Some(own), Some(bucket)) = (own, buckets.get_mut(index)) {
                bucket.counts.add(own);
            }
        }
        buckets
    }

    fn number(&self, now: Instant) -> u64 {
        now.saturating_duration_since(self.epoch).as_secs()
    }
}

impl Counts {
    /// The bound that this number of 100 calls did not exceed; `None` without calls. For calls beyond all bounds it is
    /// the last one.
    pub fn percentile(&self, of_hundred: u32) -> Option<Duration> {
        if self.calls == 0 {
            return None;
        }
        let needed = (u64::from(self.calls) * u64::from(of_hundred)).div_ceil(100);
        let mut seen = 0;
        let bin = self.latencies.iter().position(|count| {
            seen += u64::from(*count);
            seen >= needed
        });
        bin.map(|bin| LATENCY_BOUNDS[bin.min(LATENCY_BOUNDS.len() - 1)])
    }

    fn count(&mut self, took: Duration, end: CallEnd) {
        self.calls += 1;
        self.latencies[LATENCY_BOUNDS.partition_point(|bound| *bound < took)] += 1;
        if let CallEnd::Error(code) = end {
            self.add_errors(code, 1);
        }
    }

    fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        for (code, count) in &other.errors {
            self.add_errors(*code, *count);
        }
        for (own, more) in self.latencies.iter_mut().zip(other.latencies) {
            *own += more;
        }
    }

    fn add_errors(&mut self, code: ErrorCode, more: u32) {
        match self.errors.iter_mut().find(|(it, _)| *it == code) {
            Some((_, count)) => *count += more,
            None => self.errors.push((code, more)),
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    fn user(name: &str) -> UserId {
        name.parse().expect("a user")
    }

    fn calls(buckets: &[StatsBucket]) -> Vec<u32> {
        buckets.iter().map(|it| it.counts.calls).collect()
    }

    const SECONDS: fn(u32) -> Steps = |count| Steps { seconds: 1, count };

    #[tokio::test(start_paused = true)]
    async fn calls_are_counted_in_the_second_in_which_they_end_once_it_is_over() {
        let (mut stats, riley, demo) = (Stats::default(), user("riley"), user("demo"));
        stats.count(clock::now(), &riley, Duration::from_millis(3), CallEnd::Data);
        assert_eq!(calls(&stats.buckets(None, SECONDS(2))), [0, 0]);
        advance(Duration::from_secs(2)).await;
        for _ in 0..3 {
            stats.count(clock::now(), &demo, Duration::from_mins(5), CallEnd::Error(ErrorCode::Timeout));
        }
        advance(Duration::from_secs(1)).await;
        let all = stats.buckets(None, SECONDS(4));
        assert_eq!(calls(&all), [0, 1, 0, 3]);
        assert_eq!(calls(&stats.buckets(Some(&riley), SECONDS(4))), [0, 1, 0, 0]);
        assert_eq!(calls(&stats.buckets(None, Steps { seconds: 2, count: 2 })), [1, 3]);
        assert_eq!(all[3].counts.errors, [(ErrorCode::Timeout, 3)]);
        assert_eq!(all[1].counts.percentile(50), Some(Duration::from_millis(5)));
        assert_eq!(all[3].counts.percentile(99), Some(Duration::from_mins(2)));
        assert_eq!(all[0].counts.percentile(99), None);
        let apart = all[1].begin.duration_since(all[0].begin).expect("in order");
        assert_eq!(apart, Duration::from_secs(1));
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_older_than_a_quarter_of_an_hour_is_forgotten() {
        let (mut stats, riley) = (Stats::default(), user("riley"));
        for _ in 0..2 {
            stats.count(clock::now(), &riley, Duration::ZERO, CallEnd::Data);
            advance(Duration::from_secs(901)).await;
        }
        let all = stats.buckets(None, SECONDS(KEPT_SECONDS));
        assert_eq!(calls(&all).iter().sum::<u32>(), 0);
        stats.count(clock::now(), &riley, Duration::ZERO, CallEnd::Data);
        assert_eq!(stats.seconds.len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn many_users_of_one_second_are_counted_among_all() {
        let mut stats = Stats::default();
        for number in 0..MAX_USERS + 5 {
            stats.count(clock::now(), &user(&format!("u{number}")), Duration::ZERO, CallEnd::Data);
        }
        advance(Duration::from_secs(1)).await;
        assert_eq!(calls(&stats.buckets(None, SECONDS(1))), [133]);
        assert_eq!(calls(&stats.buckets(Some(&user("u132")), SECONDS(1))), [0]);
        assert_eq!(stats.seconds[0].by_user.len(), MAX_USERS);
    }

    #[test]
    fn a_percentile_is_the_bound_that_so_many_calls_did_not_exceed() {
        let mut counts = Counts::default();
        for took in (1..=100).map(Duration::from_millis) {
            counts.count(took, CallEnd::Data);
        }
        let bounds =
            [50, 99, 100].map(|of_hundred| counts.percentile(of_hundred).expect("calls").as_millis());
        assert_eq!(bounds, [50, 100, 100]);
    }
}
