//! What Reddit says is left of our budget. Once nothing is, nothing is asked until it begins again: each further
//! request would be counted against us.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use toolwire_base::clock;
use toolwire_sources::upstream::http::{Answer, Failure, FailureKind};

/// Until when there is nothing left.
#[derive(Debug, Default)]
pub(super) struct Budget(Mutex<Option<Instant>>);

impl Budget {
    /// Whether there is anything left.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let used_up_until = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let left = used_up_until.map(clock::remaining).filter(|left| !left.is_zero());
        left.map_or(Ok(()), |left| {
            let failure = Failure::new(FailureKind::RateLimited, "x-ratelimit-remaining was below 1");
            Err(failure.with_retry_after(Some(left)))
        })
    }

    /// Reads what is left: `x-ratelimit-remaining` is a decimal number, `x-ratelimit-reset` counts seconds.
    pub(super) fn note(&self, answer: &Answer) {
        if number(answer, "x-ratelimit-remaining").is_some_and(|left| left < 1.0) {
            let until = reset(answer).map(|reset| clock::now() + reset);
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = until;
        }
    }
}

/// No budget is waited for any longer, whatever a header says.
const LONGEST_WAIT: Duration = Duration::from_hours(24);

/// When the budget begins again.
pub(super) fn reset(answer: &Answer) -> Option<Duration> {
    let reset = Duration::try_from_secs_f64(number(answer, "x-ratelimit-reset")?).ok()?;
    Some(reset.min(LONGEST_WAIT))
}

fn number(answer: &Answer, header: &str) -> Option<f64> {
    answer.headers.get(header)?.to_str().ok()?.trim().parse().ok()
}
