//! Retries of model requests: only before anything of the answer was seen, where a retry may help, and where the
//! deadline has room.

use std::time::Duration;

use tokio::time::Instant;

use super::ModelError;
use toolwire_base::clock;

/// Maximum number of retries.
pub(super) const MOST: u32 = 2;
/// The longest pause before the first repeat; before each further one it is twice as long.
const FIRST: Duration = Duration::from_millis(500);
/// Upper bound on a wait that the provider asks for.
const LONGEST: Duration = Duration::from_secs(30);

/// How long to wait before a request is made for the next time. None: it is not.
pub(super) fn pause(error: ModelError, repeats: u32, deadline: Instant) -> Option<Duration> {
    if !error.is_passing() || repeats >= MOST {
        return None;
    }
    let pause = match error {
        ModelError::RateLimited { after: Some(after) } => after,
        _ => jitter(FIRST * 2_u32.pow(repeats), fastrand::f64()),
    };
    let has_room = clock::now().checked_add(pause).is_some_and(|at| at < deadline);
    (has_room && pause <= LONGEST).then_some(pause)
}

/// Full jitter: anything up to the whole.
fn jitter(most: Duration, chance: f64) -> Duration {
    most.mul_f64(chance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn only_what_passes_is_tried_again_and_only_where_there_is_time() {
        let later = clock::now() + Duration::from_mins(1);
        assert!(pause(ModelError::Unavailable, 0, later).is_some_and(|it| it <= FIRST));
        assert!(pause(ModelError::Unavailable, 1, later).is_some_and(|it| it <= 2 * FIRST));
        assert_eq!(pause(ModelError::Unavailable, MOST, later), None);
        assert_eq!(pause(ModelError::Unavailable, 0, clock::now()), None);
        for error in
            [ModelError::AuthFailed, ModelError::Refused, ModelError::Malformed, ModelError::TimedOut]
        {
            assert_eq!(pause(error, 0, later), None, "{error}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_pause_that_a_provider_asks_for_is_kept_if_there_is_room() {
        let limited = |seconds| ModelError::RateLimited { after: Some(Duration::from_secs(seconds)) };
        let later = clock::now() + Duration::from_mins(10);
        assert_eq!(pause(limited(7), 0, later), Some(Duration::from_secs(7)));
        assert_eq!(pause(limited(31), 0, later), None);
        assert_eq!(pause(limited(7), 0, clock::now() + Duration::from_secs(7)), None);
    }
}
