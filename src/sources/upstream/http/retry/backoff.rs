//! Backoff: whether a failure is worth another attempt, and after which wait.

use std::time::Duration;

use crate::upstream::http::{Failure, FailureKind};

/// Maximum number of retries of transient failures.
const MAX_TRANSIENT: u32 = 2;
/// The bound of the first delay; it doubles with each further one.
const BASE: Duration = Duration::from_millis(250);
/// Maximum bound of a delay.
const CAP: Duration = Duration::from_secs(5);

/// The retries of one request: one of a time-out, two of broken connections and failing servers, two of these in all;
/// and one of a 429 besides.
#[derive(Clone, Debug)]
pub(super) struct Backoff {
    may_retry: bool,
    transient: u32,
    timed_out: u32,
    rate_limited: u32,
}

impl Backoff {
    /// The state before its first attempt.
    pub(super) fn new(may_retry: bool) -> Self {
        Self { may_retry, transient: 0, timed_out: 0, rate_limited: 0 }
    }

    /// How long to wait before the next attempt; `None` if there is none.
    pub(super) fn delay(&mut self, failure: &Failure) -> Option<Duration> {
        if !self.may_retry {
            return None;
        }
        match failure.kind {
            FailureKind::TimedOut => {
                self.timed_out += 1;
                if self.timed_out > 1 { None } else { self.transient_delay() }
            }
            // A 503 may say for how long.
            FailureKind::Unreachable | FailureKind::Down => {
                let stated = failure.retry_after.unwrap_or_default();
                self.transient_delay().map(|delay| delay.max(stated))
            }
            FailureKind::RateLimited => {
                self.rate_limited += 1;
                failure.retry_after.filter(|_| self.rate_limited == 1)
            }
            FailureKind::OverBudget
            | FailureKind::Uncounted
            | FailureKind::NotFound
            | FailureKind::AuthFailed
            | FailureKind::Blocked
            | FailureKind::Malformed
            | FailureKind::OutOfTime
            | FailureKind::Cancelled
            | FailureKind::NotConfigured => None,
        }
    }

    fn transient_delay(&mut self) -> Option<Duration> {
        let bound = CAP.min(BASE * 2_u32.pow(self.transient));
        self.transient += 1;
        (self.transient <= MAX_TRANSIENT).then(|| full_jitter(bound))
    }
}

/// A random delay up to the bound, so that requests that failed together are not retried together.
fn full_jitter(bound: Duration) -> Duration {
    let millis = u64::try_from(bound.as_millis()).unwrap_or(u64::MAX);
    Duration::from_millis(fastrand::u64(0..=millis))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn back_off_doubles_up_to_its_cap_and_is_jittered() {
        let bounds = |transient| {
            let delays = (0..2_000).map(|_| Backoff { transient, ..Backoff::new(true) }.transient_delay());
            delays.flatten().max()
        };
        let near = |found: Option<Duration>, bound: u64| {
            let bound = Duration::from_millis(bound);
            found.is_some_and(|found| found <= bound && found > bound * 9 / 10)
        };
        assert!(near(bounds(0), 250) && near(bounds(1), 500));
        assert_eq!(bounds(2), None);
        assert_eq!(CAP.min(BASE * 2_u32.pow(10)), CAP);
    }
}
