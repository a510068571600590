//! Instants as the tables keep them: milliseconds since the Unix epoch.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// An instant in milliseconds. Those before the epoch count as the epoch.
pub fn millis(instant: SystemTime) -> i64 {
    length(instant.duration_since(UNIX_EPOCH).unwrap_or_default())
}

/// A length of time in milliseconds.
pub fn length(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

/// The instant of some milliseconds.
pub fn instant(millis: i64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(millis.try_into().unwrap_or_default())
}
