//! The remaining rate limit that Reddit reports. Once it is used up, no request is made until it is reset: each further
//! one would count against us.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use toolwire_base::clock;
use toolwire_sources::upstream::http::{Answer, Failure, FailureKind};

/// The instant of the reset, while the limit is used up.
#[derive(Debug, Default)]
pub(super) struct Budget(Mutex<Option<Instant>>);

impl Budget {
    /// Fails while the limit is used up.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let used_up_until = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let left = used_up_until.map(clock::remaining).filter(|left| !left.is_zero());
        left.map_or(Ok(()), |left| {
            let failure = Failure::new(FailureKind::RateLimited, "x-ratelimit-remaining was below 1");
            Err(failure.with_retry_after(Some(left)))
        })
    }

    /// Records what is left: `x-ratelimit-remaining` is a decimal number, `x-ratelimit-reset` counts seconds.
    pub(super) fn record(&self, answer: &Answer) {
        if number(answer, "x-ratelimit-remaining").is_some_and(|left| left < 1.0) {
            let until = reset(answer).map(|reset| clock::now() + reset);
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = until;
        }
    }
}

/// Maximum time that requests are held back, whatever a header says.
const MAX_WAIT: Duration = Duration::from_hours(24);

/// When the budget begins again.
pub(super) fn reset(answer: &Answer) -> Option<Duration> {
    let reset = Duration::try_from_secs_f64(number(answer, "x-ratelimit-reset")?).ok()?;
    Some(reset.min(MAX_WAIT))
}

fn number(answer: &Answer, header: &str) -> Option<f64> {
    answer.headers.get(header)?.to_str().ok()?.trim().parse().ok()
}
