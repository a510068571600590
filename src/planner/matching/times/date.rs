//! Dates as they are written: `2024-06-01`, `12 June`, `June 2024`, `since June`, `2024`.

use chrono::{Datelike, Months, NaiveDate};

use crate::{
    english::{Phrase, english},
    matching::words::{Word, is_stop},
};

/// Whether a word, in small letters, is a name of the calendar, and so of nothing else.
pub(crate) fn is_calendar(lower: &str) -> bool {
    let is_part = || ["q1", "q2", "q3", "q4", "h1", "h2"].contains(&lower);
    month(lower).is_some() || english().weekdays.has(lower) || is_part()
}

/// The month of a name, from 1.
fn month(lower: &str) -> Option<u32> {
    let is_of = |month: &Phrase| month.words().iter().any(|name| name == lower);
    (1..).zip(&english().months).find(|(_, month)| is_of(month)).map(|(number, _)| number)
}

/// The date that begins at a word: its first and its last day, and the word after it.
pub(super) fn date(
    text: &str,
    words: &[Word],
    at: usize,
    today: NaiveDate,
) -> Option<(NaiveDate, NaiveDate, usize)> {
    let number = |index: usize| words.get(index).and_then(|word| word.lower.parse::<u32>().ok());
    let joined =
        |index: usize| words.get(index).zip(words.get(index + 1)).is_some_and(|(a, b)| a.end + 1 == b.begin);
    let year = |index: usize| year(text, words, index, today);
    let month = month(words.get(at).map_or("", |word| word.lower.as_str()));
    if let (Some(month), Some(year)) = (month, year(at + 1)) {
        let first = NaiveDate::from_ymd_opt(year, month, 1)?;
        return Some((first, first.checked_add_months(Months::new(1))?.pred_opt()?, at + 2));
    }
    if let (Some(year), Some(month), Some(day), true, true) =
        (year(at), number(at + 1), number(at + 2), joined(at), joined(at + 1))
    {
        let date = NaiveDate::from_ymd_opt(year, month, day)?;
        return Some((date, date, at + 3));
    }
    if let Some((date, end)) = day_of_month(words, at, today, year) {
        return Some((date, date, end));
    }
    if let Some(quarter) = quarter_of_year(words, at, year) {
        return Some(quarter);
    }
    if let Some(month) = month {
        return month_by_itself(words, at, month, today);
    }
    let year = year(at)?;
    Some((NaiveDate::from_ymd_opt(year, 1, 1)?, NaiveDate::from_ymd_opt(year, 12, 31)?, at + 1))
}

/// The year that a word is: `2024`, `'24`. `Above 2000` and `$2000` are sums.
fn year(text: &str, words: &[Word], at: usize, today: NaiveDate) -> Option<i32> {
    let word = words.get(at)?;
    let number = word.lower.parse::<i32>().ok()?;
    let (before, behind) = (&text[..word.begin], &text[word.end..]);
    let last = at.checked_sub(1).map_or("", |last| words[last].lower.as_str());
    let is_compared = |phrase: &Phrase| last != "over" && phrase.words().last().is_some_and(|it| it == last);
    if before.ends_with(['$', '₹', '€', '£']) || english().comparisons.iter().any(is_compared) {
        return None;
    }
    // `The '50 day average'` is quoted.
    let is_short = word.lower.len() == 2 && before.ends_with(['\'', '’']) && !behind.contains(['\'', '’']);
    let year = match number {
        number if !is_short => number,
        number if 2000 + number <= today.year() + 1 => 2000 + number,
        number => 1900 + number,
    };
    (1900..2100).contains(&year).then_some(year)
}

/// The last month of a name that has begun.
fn month_by_itself(
    words: &[Word],
    at: usize,
    month: u32,
    today: NaiveDate,
) -> Option<(NaiveDate, NaiveDate, usize)> {
    let before = at.checked_sub(1).map_or("", |before| words[before].lower.as_str());
    let this = NaiveDate::from_ymd_opt(today.year(), month, 1)?;
    let first = if this > today { this.with_year(today.year() - 1)? } else { this };
    let english = english();
    let all = [&english.since, &english.during, &english.until, &english.last, &english.current];
    // `May` and `march` are words too.
    let name = &words[at].lower;
    let is_name = !is_stop(name) && !matches!(name.as_str(), "may" | "march");
    // `And` ends a range before a date, and no range before `may I`.
    let is_modal = before == "and" && words.get(at + 1).is_some_and(|word| english.subjects.has(&word.lower));
    let is_date = is_name || (!is_modal && all.iter().any(|words| words.has(before)));
    is_date.then_some((first, first.checked_add_months(Months::new(1))?.pred_opt()?, at + 1))
}

/// `Q3 2025`, `2025 Q3`, `the third quarter of 2025` or `H1 2025`, of the calendar's years.
fn quarter_of_year(
    words: &[Word],
    at: usize,
    year: impl Fn(usize) -> Option<i32>,
) -> Option<(NaiveDate, NaiveDate, usize)> {
    let lower = |index: usize| words.get(index).map_or("", |word| word.lower.as_str());
    let of = |index: usize| index + usize::from(lower(index) == "of");
    // The place from 0, its length in months, and the word after it.
    let part = |index: usize| {
        let numbered = |letter: char, most: u32| {
            let number = lower(index).strip_prefix(letter)?.parse::<u32>().ok()?;
            (1..=most).contains(&number).then(|| (number - 1, 12 / most, index + 1))
        };
        let ordinal = |unit: &str, most: usize| {
            let is_of = |names: &Phrase| names.words().iter().any(|name| name == lower(index));
            let place = english().ordinals.iter().take(most).position(is_of)?;
            let (place, most) = (u32::try_from(place).ok()?, u32::try_from(most).ok()?);
            (lower(index + 1) == unit).then(|| (place, 12 / most, index + 2))
        };
        let numbered = numbered('q', 4).or_else(|| numbered('h', 2));
        numbered.or_else(|| ordinal("quarter", 4)).or_else(|| ordinal("half", 2))
    };
    let (year, (place, months, end)) = if let Some(year) = year(at) {
        (year, part(at + 1)?)
    } else {
        let (place, months, end) = part(at)?;
        let behind = of(end);
        (year(behind)?, (place, months, behind + 1))
    };
    let first = NaiveDate::from_ymd_opt(year, place * months + 1, 1)?;
    Some((first, first.checked_add_months(Months::new(months))?.pred_opt()?, end))
}

/// `12 June`, `the 12th of June` or `June 12`, with or without a year, and the word after it. Without one, the last
/// such day.
fn day_of_month(
    words: &[Word],
    at: usize,
    today: NaiveDate,
    year: impl Fn(usize) -> Option<i32>,
) -> Option<(NaiveDate, usize)> {
    let lower = |index: usize| words.get(index).map_or("", |word| word.lower.as_str());
    let day = |index: usize| {
        let digits = ["st", "nd", "rd", "th"].iter().find_map(|ending| lower(index).strip_suffix(ending));
        digits.unwrap_or(lower(index)).parse::<u32>().ok().filter(|day| (1..=31).contains(day))
    };
    let of = usize::from(lower(at + 1) == "of");
    let (month, day, end) = match (month(lower(at)), day(at)) {
        (Some(month), None) => (month, day(at + 1)?, at + 2),
        (None, Some(day)) => (month(lower(at + 1 + of))?, day, at + 2 + of),
        _ => return None,
    };
    if let Some(year) = year(end) {
        return Some((NaiveDate::from_ymd_opt(year, month, day)?, end + 1));
    }
    let this = NaiveDate::from_ymd_opt(today.year(), month, day)?;
    Some((if this > today { this.with_year(today.year() - 1)? } else { this }, end))
}
