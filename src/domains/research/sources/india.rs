//! India's exchanges: their day, and the units in which Indian amounts are stated.
//!
//! Not here: holidays and trading hours.

use std::time::SystemTime;

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};

/// The currency of India's exchanges, and in what companies file with them.
pub const RUPEES: &str = "INR";
/// Ten million.
pub const CRORE: f64 = 1e7;
pub const LAKH: f64 = 1e5;
/// How far India's clocks are ahead of UTC, in seconds. There is no summer time.
pub const UTC_OFFSET_S: i32 = 19_800;

/// The day in India at an instant.
pub fn day(instant: SystemTime) -> NaiveDate {
    (DateTime::<Utc>::from(instant) + TimeDelta::seconds(UTC_OFFSET_S.into())).date_naive()
}

/// The instant at which a day begins in India, in seconds since 1970.
pub fn start_of(day: NaiveDate) -> i64 {
    day.and_time(chrono::NaiveTime::MIN).and_utc().timestamp() - i64::from(UTC_OFFSET_S)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_day_changes_at_midnight_in_india() {
        let at = |text: &str| SystemTime::from(DateTime::parse_from_rfc3339(text).unwrap());
        let friday = NaiveDate::from_ymd_opt(2026, 1, 16).unwrap();
        assert_eq!(day(at("2026-01-16T10:00:00Z")), friday);
        assert_eq!(day(at("2026-01-15T18:30:00Z")), friday);
        assert_eq!(day(at("2026-01-15T18:29:59Z")), friday.pred_opt().unwrap());
        assert_eq!(
            start_of(friday),
            DateTime::parse_from_rfc3339("2026-01-15T18:30:00Z").unwrap().timestamp()
        );
    }
}
