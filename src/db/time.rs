//! Conversion of instants and durations to the tables' format: milliseconds since the Unix epoch.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// An instant in milliseconds. Instants before the epoch are clamped to it.
pub fn millis(instant: SystemTime) -> i64 {
    length(instant.duration_since(UNIX_EPOCH).unwrap_or_default())
}

/// A duration in milliseconds, saturating.
pub fn length(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

/// The instant of this many milliseconds; negative values are clamped to the epoch.
pub fn instant(millis: i64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(millis.try_into().unwrap_or_default())
}
