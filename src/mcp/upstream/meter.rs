//! The rate at which bytes of a server are taken that serve no call: its logs, comments, notifications and answers to
//! nothing. Beyond it they are left in its pipe or connection until they are due, so that it is slowed down itself.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::time::{Instant, sleep_until};

use super::bounds::{DISCARD_BURST, DISCARD_RATE, MESSAGE_COST};
use toolwire_base::clock;

/// A token bucket, as the instant at which it would be full again.
#[derive(Debug)]
pub(crate) struct Meter(Mutex<Instant>);

impl Default for Meter {
    fn default() -> Self {
        Self(Mutex::new(clock::now()))
    }
}

impl Meter {
    /// Notes bytes that were thrown away.
    pub(crate) fn spend(&self, bytes: usize) {
        let bytes = u32::try_from(bytes + MESSAGE_COST).unwrap_or(u32::MAX);
        let mut full_at = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *full_at =
            (*full_at).max(clock::now()) + Duration::from_secs(1).mul_f64(f64::from(bytes) / DISCARD_RATE);
    }

    /// Waits until more may be read. Nothing is lost where this is dropped.
    pub(crate) async fn wait(&self) {
        let full_at = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let due = full_at.checked_sub(DISCARD_BURST).unwrap_or(full_at);
        if due > clock::now() {
            sleep_until(due).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_burst_passes_and_a_flood_is_read_at_the_rate() {
        let (meter, begun) = (Meter::default(), clock::now());
        let second = 2 * 1_024 * 1_024 - MESSAGE_COST;
        for _ in 0..8 {
            meter.spend(second);
            meter.wait().await;
        }
        assert_eq!(begun.elapsed(), Duration::ZERO, "a burst");
        for _ in 0..10 {
            meter.spend(second);
            meter.wait().await;
        }
        assert_eq!(begun.elapsed().as_secs(), 10, "{:?}", begun.elapsed());
        tokio::time::advance(Duration::from_mins(1)).await;
        let later = clock::now();
        meter.spend(second);
        meter.wait().await;
        assert_eq!(later.elapsed(), Duration::ZERO, "it has recovered");
    }

    #[tokio::test(start_paused = true)]
    async fn many_small_messages_are_slowed_down_too() {
        let (meter, begun) = (Meter::default(), clock::now());
        for _ in 0..200_000 {
            meter.spend(1);
            meter.wait().await;
        }
        assert!(begun.elapsed() > Duration::from_secs(4), "{:?}", begun.elapsed());
    }
}
