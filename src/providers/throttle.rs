//! Progress that reaches a caller: ten a second, of more the newest.

use std::future::pending;

use tokio::time::{Instant, sleep_until};

use crate::bounds::PROGRESS_INTERVAL;
use toolwire_base::clock;

/// Holds back what comes too soon.
#[derive(Debug)]
pub struct Throttle<T> {
    next: Option<Instant>,
    held: Option<T>,
}

impl<T> Default for Throttle<T> {
    fn default() -> Self {
        Self { next: None, held: None }
    }
}

impl<T> Throttle<T> {
    /// What is passed on now. Anything else is held, in place of what was held before.
    pub fn offer(&mut self, item: T, now: Instant) -> Option<T> {
        if self.next.is_some_and(|next| now < next) {
            self.held = Some(item);
            return None;
        }
        self.held = None;
        self.next = Some(now + PROGRESS_INTERVAL);
        Some(item)
    }

    /// Waits until what is held is passed on. Never returns, if nothing is.
    pub async fn next(&mut self) -> Option<T> {
        match self.due() {
            Some(due) => sleep_until(due).await,
            None => pending().await,
        }
        self.take(clock::now())
    }

    fn due(&self) -> Option<Instant> {
        self.held.as_ref().and(self.next)
    }

    fn take(&mut self, now: Instant) -> Option<T> {
        let held = self.held.take()?;
        self.offer(held, now)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn of_a_flood_ten_a_second_pass_and_the_newest_is_not_lost() {
        let begun = clock::now();
        let mut throttle = Throttle::default();
        let mut passed = Vec::new();
        for number in 0..1_000_u64 {
            let now = begun + Duration::from_millis(number);
            if throttle.due().is_some_and(|due| due <= now) {
                passed.extend(throttle.take(now));
            }
            passed.extend(throttle.offer(number, now));
        }
        assert!(throttle.due().is_some());
        passed.extend(throttle.take(begun + Duration::from_secs(1)));
        assert_eq!(passed.len(), 11, "{passed:?}");
        assert_eq!(passed.last(), Some(&999));
    }

    #[test]
    fn what_comes_slowly_passes_at_once() {
        let begun = clock::now();
        let mut throttle = Throttle::default();
        for tenth in 0..5 {
            assert_eq!(throttle.offer(tenth, begun + PROGRESS_INTERVAL * tenth), Some(tenth));
            assert_eq!(throttle.due(), None);
        }
    }
}
