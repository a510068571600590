//! Calendar dates, as far as timeframes need them.

use super::words::Timeframe;

const SECONDS_A_DAY: i64 = 86_400;

/// A day of the Gregorian calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    year: i64,
    month: i64,
    day: i64,
}

/// The time from one instant, inclusive, to another, exclusive, in seconds since 1970 (UTC).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    start: i64,
    end: i64,
}

impl Date {
    /// The date that a text begins with.
    pub fn leading(text: &str) -> Option<Self> {
        let mut parts = text.get(..10)?.splitn(3, '-').map(|part| part.parse::<u32>().ok().map(i64::from));
        let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
        let is_date = year > 0 && (1..=12).contains(&month) && (1..=days_in(year, month)).contains(&day);
        is_date.then_some(Self { year, month, day })
    }

    /// The first second of the day, since 1970 (UTC).
    pub fn seconds(self) -> i64 {
        self.days() * SECONDS_A_DAY
    }

    fn months_before(self, months: i64) -> Self {
        let index = self.year * 12 + self.month - 1 - months;
        let (year, month) = (index.div_euclid(12), index.rem_euclid(12) + 1);
        Self { year, month, day: self.day.min(days_in(year, month)) }
    }

    /// Days since 1970, counted in years that begin with March.
    fn days(self) -> i64 {
        let year = if self.month > 2 { self.year } else { self.year - 1 };
        let day_of_year = (153 * ((self.month + 9) % 12) + 2) / 5 + self.day - 1;
        year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + day_of_year - 719_468
    }
}

impl Window {
    /// The timeframe that ends with the given day. A window of whole days or months begins on the day after the one it
    /// counts back to, so that adjacent windows share no day.
    pub fn ending(date: Date, timeframe: Timeframe) -> Self {
        let after = |start: Date, days: i64| start.seconds() + days * SECONDS_A_DAY;
        let start = match timeframe {
            Timeframe::OneDay => after(date, 0),
            Timeframe::OneWeek => after(date, -6),
            Timeframe::OneMonth => after(date.months_before(1), 1),
            Timeframe::ThreeMonths => after(date.months_before(3), 1),
            Timeframe::SixMonths => after(date.months_before(6), 1),
            Timeframe::OneYear => after(date.months_before(12), 1),
            Timeframe::FiveYears => after(date.months_before(60), 1),
            Timeframe::YearToDate => Date { month: 1, day: 1, ..date }.seconds(),
            Timeframe::All => i64::MIN,
        };
        Self { start, end: after(date, 1) }
    }

    /// Whether an instant lies in the window.
    pub fn contains(self, seconds: i64) -> bool {
        (self.start..self.end).contains(&seconds)
    }
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use std::str::FromStr;

    use prost_types::Timestamp;

    use super::*;

    fn date(text: &str) -> Date {
        Date::leading(text).expect("a date")
    }

    #[test]
    fn days_agree_with_timestamps() {
        for day in ["1970-01-01", "1999-12-31", "2000-02-29", "2024-03-01", "2026-01-15", "2100-03-01"] {
            let timestamp = Timestamp::from_str(&format!("{day}T00:00:00Z")).expect("a time");
            assert_eq!(date(day).seconds(), timestamp.seconds, "{day}");
        }
    }

    #[test]
    fn what_is_no_date_is_refused() {
        for text in ["", "2026", "2026-02-29", "2026-13-01", "2026-00-10", "yesterday!", "15-01-2026"] {
            assert_eq!(Date::leading(text), None, "{text}");
        }
        assert_eq!(Date::leading("2026-01-15T10:00:00Z"), Some(date("2026-01-15")));
    }

    #[test]
    fn a_window_ends_with_its_day_and_clamps_short_months() {
        let contains = |end: &str, timeframe, day: &str| {
            Window::ending(date(end), timeframe).contains(date(day).seconds())
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
