//! Statistics of calls as messages.

use std::time::Duration;

use super::calls::whose;
use crate::service::{calls::Whose, request, stats::Stats};
use toolwire_contract::{
    Refusal, convert,
    proto::v1::{self, GetStatsRequest, GetStatsResponse},
};
use toolwire_engine::pipeline::{Counts, KEPT_SECONDS, LATENCY_BOUNDS, StatsBucket, Steps};

/// The longest step.
const MAX_STEP: u32 = 60;

/// Reads the users whose calls are meant, and the steps in which they are counted.
pub(super) fn read(message: &GetStatsRequest) -> Result<(Whose, Steps), Refusal> {
    let whose = whose("user_id", &message.user_id)?;
    let step = request::wait("step", message.step)?.unwrap_or(Duration::from_secs(1));
    let seconds = u32::try_from(step.as_secs()).unwrap_or(u32::MAX);
    let is_whole = step.subsec_nanos() == 0 && (1..=MAX_STEP).contains(&seconds);
    if !is_whole || !KEPT_SECONDS.is_multiple_of(seconds) {
        let what = format!("must be 1 to {MAX_STEP} whole seconds, of which {KEPT_SECONDS} is a multiple");
        return Err(request::refuse("step", "multiple_of", &what));
    }
    let longest = Duration::from_secs(KEPT_SECONDS.into());
    let window = request::wait_within("window", message.window, longest)?;
    let window = if window.is_zero() { longest } else { window };
    let length =
        u32::try_from(window.as_secs()).unwrap_or(KEPT_SECONDS) + u32::from(window.subsec_nanos() > 0);
    Ok((whose, Steps { seconds, count: length.div_ceil(seconds) }))
}

pub(super) fn render(stats: Stats, steps: Steps) -> GetStatsResponse {
    let Stats { buckets, running, waiting, slots: (slots, idle_slots) } = stats;
    GetStatsResponse {
        step: Some(convert::duration(Duration::from_secs(steps.seconds.into()))),
        latency_bounds: LATENCY_BOUNDS.map(convert::duration).to_vec(),
        buckets: buckets.into_iter().map(bucket).collect(),
        running: count(running),
        waiting,
        slots: count(slots),
        idle_slots: count(idle_slots),
    }
}

fn bucket(StatsBucket { begin, counts }: StatsBucket) -> v1::StatsBucket {
    let percentile = |of_hundred| counts.percentile(of_hundred).map(convert::duration);
    let (p50, p99) = (percentile(50), percentile(99));
    let Counts { calls, errors, latencies } = counts;
    let error = |(code, calls)| v1::ErrorCount { code: convert::error_code(code).into(), calls };
    v1::StatsBucket {
        time: Some(convert::timestamp(begin)),
        calls,
        errors: errors.into_iter().map(error).collect(),
        latencies: if calls == 0 { Vec::new() } else { latencies.to_vec() },
        p50,
        p99,
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
