//! A length of time as one of a slot's words: `3M` or `1Y`.

use chrono::{Datelike, NaiveDate};

use super::{Reading, word};
use crate::matching::{
    message::Message,
    slots::slot::Slot,
    times::{PeriodForm, Span, Unit},
};

/// A length of time as one of the slot's words; one that is none of them is passed on as it would be written. Of
/// several, each is one: `over a month and over a year`.
pub(super) fn timeframe(slot: &Slot, message: &Message<'_>) -> Option<Reading> {
    if let Some(said) = word(slot, message) {
        return Some(Reading::from_message(said));
    }
    let mut spans: Vec<String> = Vec::new();
    for span in &message.times.spans {
        let forms = spellings(span);
        let known = forms.iter().find(|form| slot.allowed.contains(form));
        // A second time that is no value of the slot is of something else.
        let value = known.or(forms.first().filter(|_| spans.is_empty())).cloned();
        spans.extend(value.filter(|value| !spans.contains(value)));
    }
    if !spans.is_empty() {
        let value = spans.remove(0);
        return Some(Reading { others: spans, ..Reading::from_message(value) });
    }
    since_or_all(slot, message).map(Reading::from_message)
}

/// A time that is given by its beginning, or all of it.
fn since_or_all(slot: &Slot, message: &Message<'_>) -> Option<String> {
    // `since January` is this year.
    let begins_year = |date: &NaiveDate| date.ordinal() == 1 && message.times.until.is_none();
    if message.times.since.is_some_and(|date| begins_year(&date)) {
        return Some("YTD".to_owned());
    }
    let all = "ALL".to_owned();
    (message.times.is_all && slot.allowed.contains(&all)).then_some(all)
}

/// How a length of time may be written, the shortest first.
fn spellings(span: &Span) -> Vec<String> {
    let Span { count, unit, form, .. } = *span;
    let mut forms = Vec::new();
    if form == PeriodForm::This && unit == Unit::Year {
        forms.push("YTD".to_owned());
    }
    let letter = |unit| match unit {
        Unit::Day => 'D',
        Unit::Week => 'W',
        Unit::Month => 'M',
        Unit::Quarter => 'Q',
        Unit::Year => 'Y',
    };
    forms.push(format!("{count}{}", letter(unit)));
    let (days, months) = match unit {
        Unit::Day | Unit::Week => (count * unit.days(), (count * unit.days() + 2) / 30),
        Unit::Month | Unit::Quarter | Unit::Year => (0, count * unit.months()),
    };
    // A month has 28 to 31 days, and 52 weeks are a year.
    let is_about = days == 0 || days.abs_diff(months * 30) <= 2 + months / 2;
    if days > 0 && days % 7 == 0 {
        forms.push(format!("{}W", days / 7));
    }
    for (length, letter) in [(12, 'Y'), (3, 'Q'), (1, 'M')] {
        if is_about && months > 0 && months % length == 0 {
            forms.push(format!("{}{letter}", months / length));
        }
    }
    forms
}
