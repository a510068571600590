//! Timeframes in calendar days: from which instant to which, counted back from a date.

use chrono::{Datelike, Days, Months, NaiveDate, NaiveTime};

use super::words::Timeframe;

const SECONDS_A_DAY: i64 = 86_400;

/// The time from one instant, inclusive, to another, exclusive, in seconds since 1970 (UTC).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    start: i64,
    end: i64,
}

/// The date that a text begins with.
pub fn leading_date(text: &str) -> Option<NaiveDate> {
    let mut parts = text.get(..10)?.splitn(3, '-').map(|part| part.parse::<u32>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    let year = i32::try_from(year).ok().filter(|year| *year > 0)?;
    NaiveDate::from_ymd_opt(year, month, day)
}

impl Window {
    /// The timeframe that ends with the given day. A window of whole days or months begins on the day after the one it
    /// counts back to, so that adjacent windows share no day.
    pub fn ending(date: NaiveDate, timeframe: Timeframe) -> Self {
        let start = match timeframe {
            Timeframe::OneDay => Some(date),
            Timeframe::OneWeek => date.checked_sub_days(Days::new(6)),
            Timeframe::OneMonth => after_months_before(date, 1),
            Timeframe::ThreeMonths => after_months_before(date, 3),
            Timeframe::SixMonths => after_months_before(date, 6),
            Timeframe::OneYear => after_months_before(date, 12),
            Timeframe::FiveYears => after_months_before(date, 60),
            Timeframe::YearToDate => date.with_ordinal(1),
            Timeframe::All => None,
        };
        Self { start: start.map_or(i64::MIN, seconds), end: seconds(date) + SECONDS_A_DAY }
    }

    /// From the first second of one day to the last of another; without one, unbounded there.
    pub fn between(first: Option<NaiveDate>, last: Option<NaiveDate>) -> Self {
        Self {
            start: first.map_or(i64::MIN, seconds),
            end: last.map_or(i64::MAX, |last| seconds(last) + SECONDS_A_DAY),
        }
    }

    /// Whether an instant lies in the window.
    pub fn contains(self, seconds: i64) -> bool {
        (self.start..self.end).contains(&seconds)
    }
}

/// The day after the one this many months before; a month too short for it ends with its last day.
fn after_months_before(date: NaiveDate, months: u32) -> Option<NaiveDate> {
    date.checked_sub_months(Months::new(months))?.succ_opt()
}

/// The first second of a day, since 1970 (UTC).
fn seconds(date: NaiveDate) -> i64 {
    date.and_time(NaiveTime::MIN).and_utc().timestamp()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(text: &str) -> NaiveDate {
        leading_date(text).expect("a date")
    }

    #[test]
    fn what_is_no_date_is_refused() {
        for text in [
            "",
            "2026",
            "2026-02-29",
            "2026-13-01",
            "2026-00-10",
            "yesterday!",
            "15-01-2026",
            "0000-01-01",
            "2026- 1-15",
            "2026-1-15T",
        ] {
            assert_eq!(leading_date(text), None, "{text}");
        }
        assert_eq!(leading_date("2026-01-15T10:00:00Z"), Some(date("2026-01-15")));
    }

    #[test]
    fn a_window_ends_with_its_day_and_clamps_short_months() {
        let contains = |end: &str, timeframe, day: &str| {
            Window::ending(date(end), timeframe).contains(seconds(date(day)))
        };
        assert!(contains("2026-01-15", Timeframe::OneDay, "2026-01-15"));
        assert!(!contains("2026-01-15", Timeframe::OneDay, "2026-01-14"));
        assert!(contains("2026-01-15", Timeframe::OneWeek, "2026-01-09"));
        assert!(!contains("2026-01-15", Timeframe::OneWeek, "2026-01-08"));
        assert!(contains("2026-01-15", Timeframe::YearToDate, "2026-01-01"));
        assert!(!contains("2026-01-15", Timeframe::YearToDate, "2025-12-31"));
        assert!(!contains("2026-01-15", Timeframe::OneMonth, "2025-12-15"));
        assert!(contains("2026-03-31", Timeframe::OneMonth, "2026-03-01"));
        assert!(!contains("2026-03-31", Timeframe::OneMonth, "2026-02-28"));
        assert!(contains("2026-01-15", Timeframe::All, "1999-01-01"));
        assert!(!contains("2026-01-15", Timeframe::All, "2026-01-16"));
    }
}
