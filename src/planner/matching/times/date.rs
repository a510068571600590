//! Dates as they are written: `2024-06-01`, `June 2024`, `since June`, `2024`.

use chrono::{Datelike, Months, NaiveDate};

use crate::{
    english::{Phrase, english},
    matching::words::Word,
};

/// Whether a word, in small letters, is a name of the calendar, and so of nothing else.
pub(crate) fn is_calendar(lower: &str) -> bool {
    month(lower).is_some() || english().weekdays.has(lower)
}

/// The month of a name, from 1.
fn month(lower: &str) -> Option<u32> {
    let is_of = |month: &Phrase| month.words().iter().any(|name| name == lower);
    (1..).zip(&english().months).find(|(_, month)| is_of(month)).map(|(number, _)| number)
}

/// The date that begins at a word: its first and its last day, and the word after it.
pub(super) fn date(words: &[Word], at: usize, today: NaiveDate) -> Option<(NaiveDate, NaiveDate, usize)> {
    let number = |index: usize| words.get(index).and_then(|word| word.lower.parse::<u32>().ok());
    let joined =
        |index: usize| words.get(index).zip(words.get(index + 1)).is_some_and(|(a, b)| a.end + 1 == b.begin);
    let year = |index: usize| {
        number(index).filter(|it| (1900..2100).contains(it)).and_then(|it| i32::try_from(it).ok())
    };
    if let (Some(year), Some(month), Some(day), true, true) =
        (year(at), number(at + 1), number(at + 2), joined(at), joined(at + 1))
    {
        let date = NaiveDate::from_ymd_opt(year, month, day)?;
        return Some((date, date, at + 3));
    }
    let month = words.get(at).and_then(|word| month(&word.lower));
    if let (Some(month), Some(year)) = (month, year(at + 1)) {
        let first = NaiveDate::from_ymd_opt(year, month, 1)?;
        return Some((first, first.checked_add_months(Months::new(1))?.pred_opt()?, at + 2));
    }
    if let (Some(month), Some(before)) = (month, at.checked_sub(1)) {
        // The last one that has begun.
        let before = words[before].lower.as_str();
        let this = NaiveDate::from_ymd_opt(today.year(), month, 1)?;
        let first = if this > today { this.with_year(today.year() - 1)? } else { this };
        let english = english();
        let is_date = [&english.since, &english.during, &english.until].iter().any(|all| all.has(before));
        return is_date.then_some((first, first.checked_add_months(Months::new(1))?.pred_opt()?, at + 1));
    }
    let year = year(at)?;
    Some((NaiveDate::from_ymd_opt(year, 1, 1)?, NaiveDate::from_ymd_opt(year, 12, 31)?, at + 1))
}
