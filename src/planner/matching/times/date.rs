//! Dates as they are written: `2024-06-01`, `June 2024`, `since June`, `2024`.

use chrono::{Datelike, Months, NaiveDate};

use crate::matching::words::Word;

/// Words before a date that say which end of a time it is.
pub(super) const SINCE: [&str; 4] = ["since", "from", "after", "between"];
pub(super) const UNTIL: [&str; 6] = ["until", "till", "to", "through", "before", "and"];
pub(super) const DURING: [&str; 4] = ["in", "during", "for", "of"];
const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

const NAMES_OF_MONTHS: [&str; 24] = [
    "jan",
    "january",
    "feb",
    "february",
    "mar",
    "march",
    "apr",
    "april",
    "may",
    "jun",
    "june",
    "jul",
    "july",
    "aug",
    "august",
    "sep",
    "sept",
    "september",
    "oct",
    "october",
    "nov",
    "november",
    "dec",
    "december",
];
const DAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// Whether a word, in small letters, is a name of the calendar, and so of nothing else.
pub(crate) fn is_calendar(lower: &str) -> bool {
    NAMES_OF_MONTHS.contains(&lower) || DAYS.contains(&lower)
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
    let month = words.get(at).and_then(|word| {
        let is_it =
            |name: &str| word.lower.starts_with(name) && NAMES_OF_MONTHS.contains(&word.lower.as_str());
        MONTHS.iter().position(|name| is_it(name)).and_then(|it| u32::try_from(it + 1).ok())
    });
    if let (Some(month), Some(year)) = (month, year(at + 1)) {
        let first = NaiveDate::from_ymd_opt(year, month, 1)?;
        return Some((first, first.checked_add_months(Months::new(1))?.pred_opt()?, at + 2));
    }
    if let (Some(month), Some(before)) = (month, at.checked_sub(1)) {
        // The last one that has begun.
        let before = words[before].lower.as_str();
        let this = NaiveDate::from_ymd_opt(today.year(), month, 1)?;
        let first = if this > today { this.with_year(today.year() - 1)? } else { this };
        let is_date = SINCE.contains(&before) || DURING.contains(&before) || UNTIL.contains(&before);
        return is_date.then_some((first, first.checked_add_months(Months::new(1))?.pred_opt()?, at + 1));
    }
    let year = year(at)?;
    Some((NaiveDate::from_ymd_opt(year, 1, 1)?, NaiveDate::from_ymd_opt(year, 12, 31)?, at + 1))
}
