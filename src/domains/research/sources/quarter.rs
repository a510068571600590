//! A quarter of the calendar, as sources name the period of a result: `1Q2024`.
//!
//! And as the Indian market names it: by the fiscal year, which ends in March.

use std::{fmt, str::FromStr};

use chrono::{Datelike, NaiveDate};

use toolwire_sources::upstream::text::Line;

/// A quarter of the calendar. Ordered by time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Quarter {
    year: i32,
    /// 1 to 4.
    number: u32,
}

/// A text is not a valid quarter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a quarter such as 1Q2024: {0}")]
pub struct InvalidQuarter(Line);

impl Quarter {
    /// The quarter in which a day lies.
    pub fn of(day: NaiveDate) -> Self {
        Self { year: day.year(), number: day.month0() / 3 + 1 }
    }

    /// The same quarter, a year before.
    pub fn a_year_before(self) -> Self {
        Self { year: self.year - 1, ..self }
    }

    pub fn before(self) -> Self {
        match self.number {
            1 => Self { year: self.year - 1, number: 4 },
            number => Self { number: number - 1, ..self },
        }
    }

    /// Its name in the Indian fiscal year: `Q3 FY26` for October to December 2025.
    pub fn fiscal(self) -> String {
        let (number, year) = if self.number == 1 { (4, self.year) } else { (self.number - 1, self.year + 1) };
        format!("Q{number} FY{:02}", year.rem_euclid(100))
    }

    pub fn last_day(self) -> NaiveDate {
        let (month, day) = [(3, 31), (6, 30), (9, 30), (12, 31)][self.number as usize - 1];
        NaiveDate::from_ymd_opt(self.year, month, day).expect("these months have these days")
    }
}

impl FromStr for Quarter {
    type Err = InvalidQuarter;

    fn from_str(text: &str) -> Result<Self, InvalidQuarter> {
        let invalid = || InvalidQuarter(Line::of(text));
        let (number, year) = text.split_once('Q').ok_or_else(invalid)?;
        let number = number.parse().ok().filter(|number| (1..=4).contains(number));
        let year = year.parse().ok().filter(|year| (1900..=2200).contains(year));
        number.zip(year).map(|(number, year)| Self { year, number }).ok_or_else(invalid)
    }
}

impl fmt::Display for Quarter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}Q{}", self.number, self.year)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_is_read_and_written_the_same() {
        let quarter: Quarter = "4Q2024".parse().unwrap();
        assert_eq!(quarter.to_string(), "4Q2024");
        assert_eq!(quarter.last_day().to_string(), "2024-12-31");
        assert_eq!(Quarter::of(quarter.last_day()), quarter);
        assert_eq!(quarter.a_year_before().to_string(), "4Q2023");
        assert_eq!(quarter.fiscal(), "Q3 FY25");
        let fiscal = |text: &str| text.parse::<Quarter>().unwrap().fiscal();
        assert_eq!([fiscal("1Q2026"), fiscal("2Q2026"), fiscal("3Q1999")], ["Q4 FY26", "Q1 FY27", "Q2 FY00"]);
        assert_eq!(quarter.before().to_string(), "3Q2024");
        assert_eq!("1Q2025".parse::<Quarter>().unwrap().before(), quarter);
        assert!(quarter > "1Q2024".parse().unwrap() && quarter < "1Q2025".parse().unwrap());
        for bad in ["", "5Q2024", "0Q2024", "Q2024", "1Q", "2024", "1Q20x4"] {
            assert!(bad.parse::<Quarter>().is_err(), "{bad}");
        }
    }
}
