//! Waits between attempts to connect, with full jitter, for ever.

use std::time::Duration;

use super::bounds::LONGEST_BACKOFF;

const FIRST: Duration = Duration::from_millis(250);

#[derive(Debug, Default)]
pub(crate) struct Backoff {
    attempts: u32,
}

impl Backoff {
    pub(crate) fn reset(&mut self) {
        self.attempts = 0;
    }

    pub(crate) fn next(&mut self) -> Duration {
        let most = self.longest();
        self.attempts = self.attempts.saturating_add(1);
        most.mul_f64(fastrand::f64())
    }

    fn longest(&self) -> Duration {
        FIRST.saturating_mul(2_u32.saturating_pow(self.attempts)).min(LONGEST_BACKOFF)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_a_bound() {
        let mut backoff = Backoff::default();
        let mut longest = Vec::new();
        for _ in 0..40 {
            longest.push(backoff.longest());
            let bound = backoff.longest();
            assert!(backoff.next() <= bound);
        }
        assert_eq!(longest[..3], [250, 500, 1_000].map(Duration::from_millis));
        assert_eq!(longest[39], LONGEST_BACKOFF);
        backoff.reset();
        assert_eq!(backoff.longest(), FIRST);
    }
}
