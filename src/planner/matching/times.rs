//! Times in a message: lengths such as `the last two weeks`, and dates such as `since June 2024`.

mod bound;
mod date;
mod span;

use chrono::{Datelike, Days, Months, NaiveDate};

pub(crate) use self::date::is_calendar;
use self::{
    bound::{is_during, is_end, is_end_before, of_range},
    date::date,
    span::span,
};
use super::words::Word;
pub(crate) use crate::english::Unit;
use crate::english::{Phrase, english};

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
    /// Whether there is a date that neither begins nor ends the time.
    has_further_date: bool,
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

    /// Whether its dates are one time: the first begins it, and one that follows ends it.
    pub(crate) fn is_one(&self) -> bool {
        !self.has_further_date && self.since.zip(self.until).is_none_or(|(since, until)| since <= until)
    }

    /// Whether a word belongs to a date.
    pub(crate) fn is_date(&self, word: usize) -> bool {
        self.dates.binary_search(&word).is_ok()
    }

    fn read_dates(&mut self, text: &str, words: &[Word], today: NaiveDate) {
        let mut at = 0;
        // Whether the beginning was said with its year, and with a word that opens a range.
        let (mut has_year, mut is_open) = (false, false);
        while at < words.len() {
            let Some((first, last, end)) = date(text, words, at, today) else {
                at += 1;
                continue;
            };
            let lower = |back: usize| at.checked_sub(back).map_or("", |before| words[before].lower.as_str());
            // `Since the 1st of December`.
            let before = if lower(1) == "the" { lower(2) } else { lower(1) };
            self.dates.extend(at..end);
            let is_first = self.since.is_none() && self.until.is_none();
            // `March and June` are two times, and `between March and June` is one.
            let may_end = before != "and" || is_open;
            match () {
                () if is_end_before(lower(2), before) => self.until = first.pred_opt(),
                () if before == "after" => self.since = last.succ_opt(),
                () if english().since.has(before) => self.since = Some(first),
                () if may_end
                    && english().until.has(before)
                    && (self.since.is_some() || is_end(lower(2), before)) =>
                {
                    self.until = Some(last);
                    self.since = self.since.map(|since| if has_year { since } else { of_range(since, last) });
                }
                () if self.since.is_none() || is_during(before) || first == last => {
                    (self.since, self.until) = (Some(first), Some(last));
                }
                () => {}
            }
            let ends_it = is_end_before(lower(2), before) || (may_end && english().until.has(before));
            self.has_further_date |= !is_first && !ends_it;
            is_open |= english().since.has(before);
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
