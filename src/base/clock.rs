//! The clocks: the only place that reads the time, so that tests can pause it.

use std::time::{Duration, SystemTime};

use chrono::{DateTime, SecondsFormat, Utc};
use rustix::time::{ClockId, clock_gettime};
use tokio::time::Instant;

/// The monotonic clock, which tests can pause.
#[allow(clippy::disallowed_methods, reason = "the one place that reads it")]
pub fn now() -> Instant {
    Instant::now()
}

/// The wall clock, for what people read. What a state ends, forgets, leases or expires goes by the clock of the state
/// (`toolwire_state::Store::now`).
#[allow(clippy::disallowed_methods, reason = "the one place that reads it")]
pub fn wall() -> SystemTime {
    SystemTime::now()
}

/// The time since this machine started, with the time that it slept. Setting the wall clock does not change it, and no
/// test pauses it.
pub fn since_boot() -> Duration {
    #[cfg(target_os = "linux")]
    const CLOCK: ClockId = ClockId::Boottime;
    #[cfg(not(target_os = "linux"))]
    const CLOCK: ClockId = ClockId::Monotonic;
    clock_gettime(CLOCK).try_into().unwrap_or_default()
}

/// The wall-clock time of a coming instant.
pub fn wall_at(instant: Instant) -> SystemTime {
    wall() + instant.saturating_duration_since(now())
}

/// The time left until an instant; zero once it has passed.
pub fn remaining(until: Instant) -> Duration {
    until.saturating_duration_since(now())
}

/// An instant as people and programs read it: RFC 3339, UTC, whole seconds.
pub fn rfc3339(instant: SystemTime) -> String {
    DateTime::<Utc>::from(instant).to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// An instant as RFC 3339 in UTC with milliseconds, for answers that differ within a second.
pub fn rfc3339_millis(instant: SystemTime) -> String {
    DateTime::<Utc>::from(instant).to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// A wait in words, rounded up, so that waiting that long is enough: `4 s`, `12 min`, `23 h`.
pub fn wait_in_words(wait: Duration) -> String {
    in_words(wait.as_secs_f64(), f64::ceil, 0)
}

/// An age in words, rounded: `0.05 s`, `12 min`, `23 h`.
pub fn age_in_words(age: Duration) -> String {
    in_words(age.as_secs_f64(), f64::round, 2)
}

/// A configured length of time, exactly: `5 s`, `1.5 s`.
pub fn exact_in_words(length: Duration) -> String {
    format!("{} s", length.as_secs_f64())
}

/// Renders seconds in the largest unit of which there are more than two; below ten seconds with at most this many
/// decimals.
fn in_words(seconds: f64, whole: fn(f64) -> f64, decimals: u32) -> String {
    const UNITS: [(f64, &str); 3] = [(86_400.0, "days"), (3_600.0, "h"), (60.0, "min")];
    if let Some((unit, name)) = UNITS.iter().find(|(unit, _)| seconds > 2.0 * unit) {
        return format!("{} {name}", whole(seconds / unit));
    }
    let decimals = match seconds {
        ..1.0 => decimals,
        ..10.0 => decimals.min(1),
        _ => 0,
    };
    let scale = 10_f64.powi(decimals.cast_signed());
    format!("{} s", whole(seconds * scale) / scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_said_as_people_say_them() {
        let of = |millis| Duration::from_millis(millis);
        let cases = [
            (0, "0 s", "0 s"),
            (51, "1 s", "0.05 s"),
            (1_118, "2 s", "1.1 s"),
            (42_400, "43 s", "42 s"),
            (120_000, "120 s", "120 s"),
            (150_000, "3 min", "3 min"),
            (7_201_000, "3 h", "2 h"),
            (82_700_000, "23 h", "23 h"),
            (86_399_123, "24 h", "24 h"),
            (259_200_000, "3 days", "3 days"),
        ];
        for (millis, wait, age) in cases {
            assert_eq!((wait_in_words(of(millis)).as_str(), age_in_words(of(millis)).as_str()), (wait, age));
        }
    }
}
