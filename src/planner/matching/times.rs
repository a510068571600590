//! Times in a message: lengths such as `the last two weeks`, and dates such as `since June 2024`.

mod bound;
mod date;

use chrono::{Datelike, Days, Months, NaiveDate};

pub(crate) use self::date::is_calendar;
use self::{
    bound::{is_during, is_end, is_end_before, of_range},
    date::date,
};
use super::words::Word;
pub(crate) use crate::english::Unit;
use crate::english::{Phrase, english};

/// Maximum number of units of a length of time.
const LONGEST: u32 = 10_000;

/// The form of a length of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PeriodForm {
    /// `the last two weeks`.
    Past,
    /// `this year`, `today`.
    This,
    /// `60 days`.
    Bare,
}

/// A length of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) first: usize,
    /// The one after the last.
    pub(crate) end: usize,
    pub(crate) count: u32,
    pub(crate) unit: Unit,
    pub(crate) form: PeriodForm,
}

/// Every time in a message.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Times {
    pub(crate) spans: Vec<Span>,
    /// Whether it covers all time.
    pub(crate) is_all: bool,
    pub(crate) since: Option<NaiveDate>,
    pub(crate) until: Option<NaiveDate>,
    /// Whether there is a time that has not begun: `next year`.
    pub(crate) is_future: bool,
    /// The words of dates, in order.
    dates: Vec<usize>,
    /// The words of phrases for all time, in order.
    all: Vec<usize>,
}

impl Unit {
    fn of(word: &str) -> Option<Self> {
        english().units.get(word.strip_suffix('s').unwrap_or(word)).copied()
    }

    fn of_letter(letter: char) -> Option<Self> {
        Some(match letter {
            'd' => Self::Day,
            'w' => Self::Week,
            'm' => Self::Month,
            'q' => Self::Quarter,
            'y' => Self::Year,
            _ => return None,
        })
    }

    /// The length in months; 0 for a shorter one.
    pub(crate) const fn months(self) -> u32 {
        match self {
            Self::Day | Self::Week => 0,
            Self::Month => 1,
            Self::Quarter => 3,
            Self::Year => 12,
        }
    }

    /// The first day of the day, week, month, quarter or year that a day lies in.
    fn first_day(self, day: NaiveDate) -> Option<NaiveDate> {
        match self {
            Self::Day => Some(day),
            Self::Week => day.checked_sub_days(Days::new(day.weekday().num_days_from_monday().into())),
            Self::Month => day.with_day(1),
            Self::Quarter => day.with_day(1)?.with_month(day.month0() / 3 * 3 + 1),
            Self::Year => day.with_ordinal(1),
        }
    }

    /// The day that lies `count` of it before another.
    fn before(self, day: NaiveDate, count: u32) -> Option<NaiveDate> {
        match self.months() {
            0 => day.checked_sub_days(Days::new(u64::from(self.days()) * u64::from(count))),
            months => day.checked_sub_months(Months::new(months.checked_mul(count)?)),
        }
    }

    /// The length in days, a month being 30.
    pub(crate) const fn days(self) -> u32 {
        match self {
            Self::Day => 1,
            Self::Week => 7,
            Self::Month => 30,
            Self::Quarter => 90,
            Self::Year => 365,
        }
    }
}

impl Times {
    /// The times in a message that is read on the given day.
    pub(crate) fn of(text: &str, words: &[Word], today: NaiveDate) -> Self {
        let mut times = Self::default();
        let mut at = 0;
        while at < words.len() {
            match span(words, at) {
                Some(span) => {
                    at = span.end;
                    times.spans.push(span);
                }
                None => at += 1,
            }
        }
        let lower: Vec<_> = words.iter().map(|word| word.lower.as_str()).collect();
        for phrase in english().all_time.iter().map(Phrase::words) {
            let places = lower.windows(phrase.len()).enumerate().filter(|(_, window)| *window == phrase);
            times.all.extend(places.flat_map(|(at, _)| at..at + phrase.len()));
        }
        times.all.sort_unstable();
        times.is_all = !times.all.is_empty();
        times.is_future = lower.iter().any(|word| english().tomorrow.has(word))
            || lower.windows(2).any(|two| english().future.has(two[0]) && Unit::of(two[1]).is_some());
        times.read_dates(text, words, today);
        if times.since.is_none() {
            times.read_period(words, today);
        }
        times
    }

    /// Whether there is a time.
    pub(crate) fn is_any(&self) -> bool {
        !self.spans.is_empty() || !self.dates.is_empty() || self.is_all
    }

    /// Whether the only time is this day.
    pub(crate) fn is_today(&self) -> bool {
        let is_today = |span: &Span| span.form == PeriodForm::This && span.unit == Unit::Day;
        self.dates.is_empty() && !self.spans.is_empty() && self.spans.iter().all(is_today)
    }

    /// Whether there is a time of the calendar that has ended: dates, or `last month`, which is not `the last month`.
    pub(crate) fn is_of_calendar(&self, words: &[Word]) -> bool {
        let is_long = |span: &&Span| matches!(span.unit, Unit::Month | Unit::Quarter | Unit::Year);
        !self.dates.is_empty() || self.spans.iter().filter(is_long).any(|span| is_last(words, span))
    }

    /// Whether a word belongs to a time.
    pub(crate) fn takes(&self, word: usize) -> bool {
        let span = self.spans.get(self.spans.partition_point(|span| span.end <= word));
        span.is_some_and(|span| span.first <= word) || self.is_date(word) || self.is_ever(word)
    }

    /// Whether a word belongs to a phrase for all time.
    pub(crate) fn is_ever(&self, word: usize) -> bool {
        self.all.binary_search(&word).is_ok()
    }

    /// Whether a word belongs to a date.
    pub(crate) fn is_date(&self, word: usize) -> bool {
        self.dates.binary_search(&word).is_ok()
    }

    fn read_dates(&mut self, text: &str, words: &[Word], today: NaiveDate) {
        let mut at = 0;
        // Whether the beginning was said with its year.
        let mut has_year = false;
        while at < words.len() {
            let Some((first, last, end)) = date(text, words, at, today) else {
                at += 1;
                continue;
            };
            let lower = |back: usize| at.checked_sub(back).map_or("", |before| words[before].lower.as_str());
            // `Since the 1st of December`.
            let before = if lower(1) == "the" { lower(2) } else { lower(1) };
            self.dates.extend(at..end);
            match () {
                () if is_end_before(lower(2), before) => self.until = first.pred_opt(),
                () if before == "after" => self.since = last.succ_opt(),
                () if english().since.has(before) => self.since = Some(first),
                () if english().until.has(before) && (self.since.is_some() || is_end(lower(2), before)) => {
                    self.until = Some(last);
                    self.since = self.since.map(|since| if has_year { since } else { of_range(since, last) });
                }
                () if self.since.is_none() || is_during(before) || first == last => {
                    (self.since, self.until) = (Some(first), Some(last));
                }
                () => {}
            }
            has_year = words[at..end].iter().any(|word| word.lower.len() == 4 && word.number().is_some());
            at = end;
        }
    }

    /// `last month`, `this year` and `the last 10 days` as dates.
    fn read_period(&mut self, words: &[Word], today: NaiveDate) {
        let Some(span) = self.spans.iter().find(|span| span.form != PeriodForm::Bare) else { return };
        // `The last year` counts as the calendar's too.
        let is_calendar = is_last(words, span) || (span.unit == Unit::Year && span.count == 1);
        (self.since, self.until) = match span.form {
            PeriodForm::This => (span.unit.first_day(today), None),
            PeriodForm::Past if words[span.first].lower == "yesterday" => {
                (today.pred_opt(), today.pred_opt())
            }
            PeriodForm::Past if is_calendar => {
                let last = span.unit.first_day(today).and_then(|first| first.pred_opt());
                (last.and_then(|last| span.unit.first_day(last)), last)
            }
            PeriodForm::Past | PeriodForm::Bare => (span.unit.before(today, span.count), None),
        };
    }
}

/// Whether a length of time is one of the calendar: `last month`, which is not `the last month`.
fn is_last(words: &[Word], span: &Span) -> bool {
    let lower = |at: usize| words[at].lower.as_str();
    let is_the = span.first.checked_sub(1).is_some_and(|before| lower(before) == "the");
    span.end == span.first + 2 && english().last.has(lower(span.first)) && !is_the
}

/// The length of time that begins at a word.
fn span(words: &[Word], at: usize) -> Option<Span> {
    parse_named(words, at).or_else(|| parse_counted(words, at))
}

/// Such as `today`, `this year` or `the year`.
fn parse_named(words: &[Word], at: usize) -> Option<Span> {
    let lower = |index: usize| words.get(index).map_or("", |word| word.lower.as_str());
    let made = |end, count, unit, form| Some(Span { first: at, end, count, unit, form });
    match (lower(at), lower(at + 1)) {
        (day, _) if english().today.has(day) => made(at + 1, 1, Unit::Day, PeriodForm::This),
        ("yesterday", _) => made(at + 1, 1, Unit::Day, PeriodForm::Past),
        ("ytd", _) => made(at + 1, 1, Unit::Year, PeriodForm::This),
        ("year", "to") if lower(at + 2) == "date" => made(at + 3, 1, Unit::Year, PeriodForm::This),
        (this, next) if english().current.has(this) && next != "fortnight" => {
            made(at + 2, 1, Unit::of(next)?, PeriodForm::This)
        }
        ("the", next) if !next.ends_with('s') => made(at + 2, 1, Unit::of(next)?, PeriodForm::This),
        ("half", "a" | "the") if lower(at + 2) == "year" => made(at + 3, 6, Unit::Month, PeriodForm::Bare),
        ("half", "year") => made(at + 2, 6, Unit::Month, PeriodForm::Bare),
        _ => None,
    }
}

/// Such as `the last two weeks`, `60 days`, `a couple of months` or `3m`.
fn parse_counted(words: &[Word], at: usize) -> Option<Span> {
    let lower = |index: usize| words.get(index).map_or("", |word| word.lower.as_str());
    let is_past = english().past.has(lower(at));
    let form = if is_past { PeriodForm::Past } else { PeriodForm::Bare };
    let made = |end, count, unit| Some(Span { first: at, end, count, unit, form });
    let mut next = at + usize::from(is_past);
    if lower(next) == "couple" {
        next += 1 + usize::from(lower(next + 1) == "of");
        return made(next + 1, 2, Unit::of(lower(next))?);
    }
    // A larger number is no length of time.
    let count = words.get(next).and_then(Word::number).map(|count| count.min(LONGEST));
    let is_article = !is_past && count.is_none() && matches!(lower(next), "a" | "an");
    next += usize::from(count.is_some() || is_article);
    // `A good week` is a week.
    let is_plain = words.get(next).is_some_and(|word| word.number().is_none());
    if is_article && is_plain && Unit::of(lower(next)).is_none() && Unit::of(lower(next + 1)).is_some() {
        next += 1;
    }
    if let Some((count, unit)) = letters(lower(next)).filter(|_| count.is_none()) {
        return made(next + 1, count, unit);
    }
    // A word such as `monthly` needs nothing before it, and `week` alone says no length.
    let unit = Unit::of(lower(next))?;
    let weeks = if lower(next).starts_with("fortnight") { 2 } else { 1 };
    let is_alone = next == at && !lower(next).ends_with("ly") && lower(next) != "annual";
    if is_alone { None } else { made(next + 1, count.unwrap_or(1) * weeks, unit) }
}

/// `3m` or `1y`.
fn letters(word: &str) -> Option<(u32, Unit)> {
    let unit = Unit::of_letter(word.chars().last()?)?;
    let count: u32 = word[..word.len() - 1].parse().ok()?;
    Some((count.min(LONGEST), unit))
}
