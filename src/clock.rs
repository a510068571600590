//! The clocks: the only place that reads the time, so that tests can pause it.

use std::time::{Duration, SystemTime};

use chrono::{DateTime, SecondsFormat, Utc};
use tokio::time::Instant;

/// The monotonic clock, which tests can pause.
#[allow(clippy::disallowed_methods, reason = "the one place that reads it")]
pub fn now() -> Instant {
    Instant::now()
}

/// The wall clock, for what people read.
#[allow(clippy::disallowed_methods, reason = "the one place that reads it")]
pub fn wall() -> SystemTime {
    SystemTime::now()
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

/// The same with milliseconds, where another part of a second is another answer.
pub fn rfc3339_millis(instant: SystemTime) -> String {
    DateTime::<Utc>::from(instant).to_rfc3339_opts(SecondsFormat::Millis, true)
}
