//! One kind of `extract` each: the value that a message gives.

mod timeframe;
mod values;

use foldhash::HashSet;
use serde_json::{Value, json};

pub(crate) use self::values::{joined_values, value_places};
use self::{
    timeframe::timeframe,
    values::{one_word, word},
};
use super::{
    slot::{Note, Slot},
    slot_context::SlotContext,
};
use crate::matching::{
    message::Message,
    names::is_of_kind,
    times::{Span, Unit},
    topic::topic,
    words::Word,
};
use toolwire_engine::registry::ExtractKind;

/// How many words may stand between a word of `after` and what is read.
const NEAR: usize = 4;

/// How many words may stand between a word of `after` and a number of things, before or behind it.
const BESIDE: usize = 2;

/// The most things that can be asked for: a larger number is a price or a year.
const MOST: u32 = 1000;

pub(super) struct Reading {
    pub(super) value: Value,
    /// More names than the parameter takes.
    pub(super) others: Vec<String>,
    /// Whether it comes from the message, not from an earlier turn.
    pub(super) is_said: bool,
}

impl Reading {
    fn from_message(value: impl Into<Value>) -> Self {
        Self { value: value.into(), others: Vec::new(), is_said: true }
    }
}

/// Reads the value of a slot. Names within a note do not count.
pub(super) fn slot(slot: &Slot, given: SlotContext<'_>, note: Option<&Note>) -> Option<Reading> {
    let message = given.message;
    match slot.extract.kind {
        ExtractKind::Symbol | ExtractKind::Company => one_name(slot, given, note),
        ExtractKind::Symbols => all_names(slot, given, note),
        ExtractKind::Account => account(slot, given),
        ExtractKind::Topic => topic(message).map(Reading::from_message),
        ExtractKind::Timeframe => timeframe(slot, message),
        ExtractKind::Days => days(slot, message).map(Reading::from_message),
        ExtractKind::Quarters => quarters(message).map(Reading::from_message),
        ExtractKind::Count => count(slot, message).map(Reading::from_message),
        ExtractKind::Since => message.times.since.map(|date| Reading::from_message(date.to_string())),
        ExtractKind::Until => message.times.until.map(|date| Reading::from_message(date.to_string())),
        ExtractKind::Words | ExtractKind::Profile => one_word(slot, message),
        ExtractKind::Flag => word(slot, message).map(|value| Reading::from_message(value == "true")),
        ExtractKind::Rest => slot.note_text(message).map(Reading::from_message),
    }
}

/// The names in the message that the slot takes; without one, what was named before.
fn names(slot: &Slot, given: SlotContext<'_>, note: Option<&Note>) -> (Vec<String>, bool) {
    let of = slot.of_kind();
    let mut seen = HashSet::default();
    // A note names nothing that something is done to.
    let named =
        given.message.found.iter().filter(|found| {
            note.is_none_or(|note| found.end <= note.cue.start || found.begin >= note.text.end)
        });
    let said = named.filter_map(|found| found.value(of)).filter(|value| seen.insert(*value));
    let said: Vec<_> = said.map(str::to_owned).collect();
    if !said.is_empty() {
        return (said, true);
    }
    // A name that only narrows what is shown must be referred to: `show my trades` is about no earlier name.
    let may_carry = slot.is_required || given.refers;
    let carried = given.carried.iter().filter(|_| may_carry);
    let carried = carried.filter(|(kind, _)| is_of_kind(kind, of) || kind.is_empty());
    let is_ambiguous = given.message.found.iter().any(|found| !found.candidates.is_empty());
    (if is_ambiguous { Vec::new() } else { carried.map(|(_, value)| value.clone()).collect() }, false)
}

fn one_name(slot: &Slot, given: SlotContext<'_>, note: Option<&Note>) -> Option<Reading> {
    let (mut names, is_said) = names(slot, given, note);
    if names.is_empty() {
        return None;
    }
    let others = names.split_off(1);
    // What was named before is one thing: the last.
    Some(Reading {
        value: names.remove(0).into(),
        others: if is_said { others } else { Vec::new() },
        is_said,
    })
}

fn all_names(slot: &Slot, given: SlotContext<'_>, note: Option<&Note>) -> Option<Reading> {
    let (mut names, is_said) = names(slot, given, note);
    if names.len() < slot.fewest && is_said {
        // `How does it compare to TCS?` takes what was named before too.
        let of = slot.of_kind();
        for (_, value) in given.carried.iter().filter(|(kind, _)| is_of_kind(kind, of)) {
            if !names.contains(value) {
                names.insert(0, value.clone());
            }
        }
    }
    if names.is_empty() {
        return None;
    }
    let value = match &slot.extract.join {
        Some(join) if !slot.is_list => json!(names.join(join)),
        _ if slot.is_list => json!(names),
        _ => json!(names[0]),
    };
    Some(Reading { value, others: Vec::new(), is_said })
}

/// The account that is named, or else that of the request.
fn account(slot: &Slot, given: SlotContext<'_>) -> Option<Reading> {
    let of = slot.of_kind();
    let mut named: Vec<&str> = Vec::new();
    for name in given.message.found.iter().filter(|found| found.is_of(of)).filter_map(|found| found.value(of))
    {
        if !named.contains(&name) {
            named.push(name);
        }
    }
    if let Some((name, others)) = named.split_first() {
        let others = others.iter().map(|name| (*name).to_owned()).collect();
        return Some(Reading { others, ..Reading::from_message(*name) });
    }
    let account = given.account?;
    Some(Reading { value: account.into(), others: Vec::new(), is_said: false })
}

fn days(slot: &Slot, message: &Message<'_>) -> Option<u32> {
    let stands = |span: &&Span| {
        // `Hold 30 days`, or `a 30 day hold`.
        let around = &message.words[span.first.saturating_sub(NEAR)..message.words.len().min(span.end + 1)];
        slot.extract.after.is_empty() || around.iter().any(|word| slot.is_cue(word))
    };
    let span = message.times.spans.iter().find(stands)?;
    Some(span.count * span.unit.days())
}

fn quarters(message: &Message<'_>) -> Option<u32> {
    let span = message.times.spans.first()?;
    match span.unit {
        Unit::Quarter => Some(span.count),
        Unit::Year => Some(span.count * 4),
        Unit::Month if span.count.is_multiple_of(3) => Some(span.count / 3),
        Unit::Day | Unit::Week | Unit::Month => None,
    }
}

/// Whether a number stands before what it counts, which `after` lists behind a `…`: `show 2 trades`.
fn is_number_of(slot: &Slot, message: &Message<'_>, at: usize) -> bool {
    let behind = &message.words[(at + 1).min(message.words.len())..message.words.len().min(at + 1 + BESIDE)];
    behind.iter().any(|word| slot.is_counted(word))
}

/// A number of things: one that belongs to no time, no name and no sum of money, and that nothing is compared with.
fn count(slot: &Slot, message: &Message<'_>) -> Option<u32> {
    // `My last 5 trades`, or `the 5 most recent ones`.
    let is_announced = |at: usize| {
        let around = at.saturating_sub(BESIDE)..message.words.len().min(at + 1 + BESIDE);
        slot.extract.after.is_empty()
            || message.words[around].iter().any(|word| slot.is_cue(word))
            || is_number_of(slot, message, at)
    };
    let is_free = |(at, word): &(usize, &Word)| {
        let before = &message.text[..word.begin];
        let after = &message.text[word.end..];
        !message.times.takes(*at)
            && !message.is_compared(*at)
            && is_announced(*at)
            && word.lower != "one"
            && message.name_at(word).is_none()
            && !before.ends_with(['$', '₹', '€', '.', ',', '-', '/'])
            && (!after.starts_with(['%', ',', '.', '-', '/'])
                || after.trim_end_matches(['.', '?', ',']).is_empty())
    };
    let words = message.words.iter().enumerate().filter(is_free);
    let number = words.filter_map(|(_, word)| word.number()).find(|number| (1..=MOST).contains(number));
    number.or_else(|| is_last_one(slot, message).then_some(1))
}

/// Whether one of the things that `after` lists is asked for, the last: `my last deposit`, `the most recent sale`.
fn is_last_one(slot: &Slot, message: &Message<'_>) -> bool {
    let is_one =
        |word: &Word| slot.counted_nouns().any(|plural| plural.strip_suffix('s') == Some(&word.lower));
    let mut pairs = message.words.windows(2).enumerate();
    pairs.any(|(at, pair)| slot.is_cue(&pair[0]) && is_one(&pair[1]) && !message.times.takes(at))
}
