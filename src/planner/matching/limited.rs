//! The parts of a message that had no effect on the calls: a time, names, numbers, and whole clauses. An answer says
//! so, since it is less than the question.

use chrono::NaiveDate;
use serde_json::{Map, Value};

use super::{
    clauses::{clauses, joints},
    index::{Index, Indexed},
    lexicon::Words,
    message::Message,
    names::{NameIndex, NameMatch},
    slots::Slot,
};
use toolwire_engine::registry::ExtractKind;

/// The parts of a message that had no effect on the calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    pub time: Option<LeftOutTime>,
    /// The clauses of which no called tool has a word, and the names and numbers of the others that none takes, in
    /// order.
    pub words: Vec<String>,
}

/// Why the time of a message had no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOutTime {
    /// The message names dates or a past time, and no call has a time.
    Whole,
    /// The message names a time of the calendar, and the calls only have times that end now.
    Calendar,
}

/// The parts of a message that had no effect on these calls, each a tool with its arguments.
pub(crate) fn left_out(
    index: &Index,
    names: &NameIndex,
    words: &Words,
    calls: &[(&str, &Map<String, Value>)],
    message: &str,
    today: NaiveDate,
) -> LeftOut {
    let message = Message::new(message, today, names, &index.words);
    let is_of = |call: &str, it: &Indexed| call == it.tool.definition.name.as_str();
    let is_called = |(_, it): &(usize, &Indexed)| calls.iter().any(|(call, _)| is_of(call, it));
    let called: Vec<_> = index.tools.iter().enumerate().filter(is_called).collect();
    let slots: Vec<_> = called.iter().flat_map(|(_, it)| &it.slots).collect();
    let has_value = |it: &Indexed, slot: &Slot| {
        calls.iter().any(|(call, arguments)| is_of(call, it) && arguments.contains_key(&slot.name))
    };
    let filled = called.iter().flat_map(|(_, it)| it.slots.iter().filter(|slot| has_value(it, slot)));
    let time = unused_time(&message, &filled.collect::<Vec<_>>());
    let takes_texts = |slot: &&Slot| matches!(slot.extract.kind, ExtractKind::Rest | ExtractKind::Topic);
    // A tool that takes free text was given every word, so none is left out.
    if slots.iter().any(takes_texts) {
        return LeftOut { time, words: Vec::new() };
    }
    let is_dropped = |part: &&str| {
        let part = Message::new(part, today, names, &index.words);
        is_dropped(index, &called, &part, &slots)
    };
    let dropped: Vec<_> = parts(message.text, words).into_iter().filter(is_dropped).collect();
    let unnamed = message.found.iter().filter(|found| !slots.iter().any(|slot| takes(slot, found)));
    let mut words: Vec<_> =
        unnamed.map(|found| (found.begin, &message.text[found.begin..found.end])).collect();
    words.extend(unused_numbers(&message, &slots));
    let place = |part: &str| part.as_ptr() as usize - message.text.as_ptr() as usize;
    let is_within =
        |at: usize| dropped.iter().any(|part| (place(part)..place(part) + part.len()).contains(&at));
    words.retain(|(at, _)| !is_within(*at));
    words.extend(dropped.iter().map(|part| (place(part), *part)));
    words.sort_unstable();
    words.dedup_by(|one, other| one.1.eq_ignore_ascii_case(other.1));
    LeftOut { time, words: words.into_iter().map(|(_, word)| word.to_owned()).collect() }
}

fn unused_time(message: &Message<'_>, slots: &[&Slot]) -> Option<LeftOutTime> {
    if message.times.is_narrow() && !slots.iter().any(|slot| slot.takes_a_time()) {
        return Some(LeftOutTime::Whole);
    }
    let of_calendar = message.times.is_of_calendar(&message.words);
    (of_calendar && !slots.iter().any(|slot| slot.takes_dates())).then_some(LeftOutTime::Calendar)
}

/// The clauses and halves of a text, each without the marks around it.
fn parts<'a>(text: &'a str, words: &Words) -> Vec<&'a str> {
    let mut parts = Vec::new();
    for clause in clauses(text, words) {
        let mut begin = 0;
        for joint in joints(clause) {
            parts.push(&clause[begin..joint.start]);
            begin = joint.end;
        }
        parts.push(&clause[begin..]);
    }
    parts.into_iter().map(|part| part.trim_matches(|c: char| !c.is_alphanumeric())).collect()
}

/// Whether a part of a message says something of which no called tool has anything: at least two words, or one of
/// another subject. A single word more may only be a way of speaking.
fn is_dropped(index: &Index, called: &[(usize, &Indexed)], part: &Message<'_>, slots: &[&Slot]) -> bool {
    let is_of_tool = |(tool, _): &(u32, f32)| called.iter().any(|(at, _)| *at == *tool as usize);
    let is_of_value = |at: usize| {
        let term = &part.words[at].term;
        slots.iter().any(|slot| slot.phrases.iter().any(|(phrase, _)| phrase.contains(term)))
    };
    let is_other = |at: usize| part.is_out_of_scope(&index.words, at);
    let is_of_other = part.content.iter().any(|(_, at)| is_other(*at));
    let takes_numbers = slots.iter().any(|slot| takes_numbers(slot));
    let is_used = part.content.iter().any(|(term, at)| {
        if takes_numbers && part.words[*at].number().is_some() {
            return true;
        }
        // `The weather this week` is none of a tool's that knows weeks.
        if part.times.takes(*at) {
            return !is_of_other;
        }
        index.words.postings(*term).iter().any(is_of_tool) || is_of_value(*at)
    });
    let is_taken = |found: &NameMatch| !found.is_unknown() && slots.iter().any(|slot| takes(slot, found));
    let is_named = part.found.iter().any(is_taken);
    let says = part.content.len() > 1 || is_of_other;
    says && !is_used && !is_named
}

/// The numbers that no called tool takes, each with its position. One that something is compared with (`under 15`) is
/// never taken as a number of things, and is named from the first word of the comparison on.
fn unused_numbers<'a>(message: &Message<'a>, slots: &[&Slot]) -> Vec<(usize, &'a str)> {
    let mut unused = Vec::new();
    let takes_numbers = slots.iter().any(|slot| takes_numbers(slot));
    for (at, word) in message.words.iter().enumerate() {
        // `A 50-day average` has its number in a word.
        let is_joined = message.text[word.end..].starts_with('-');
        let is_number =
            word.number().is_some_and(|number| number > 1) && !message.times.takes(at) && !is_joined;
        let is_bound = is_number && message.bound(at).is_some();
        let is_of_value =
            || slots.iter().any(|slot| slot.phrases.iter().any(|it| it.0.contains(&word.lower)));
        if is_bound || (is_number && message.tokens[at].is_some() && !takes_numbers && !is_of_value()) {
            let begin = message.words[message.bound(at).unwrap_or(at)].begin;
            unused.push((begin, &message.text[begin..word.end]));
        }
    }
    unused
}

/// Whether a parameter takes a number of things, or as many as are named.
fn takes_numbers(slot: &Slot) -> bool {
    let is_number =
        matches!(slot.extract.kind, ExtractKind::Count | ExtractKind::Days | ExtractKind::Quarters);
    is_number || slot.fewest > 1
}

/// Whether a parameter takes what is named.
fn takes(slot: &Slot, found: &NameMatch) -> bool {
    let takes_names = slot.takes_names() || slot.extract.kind == ExtractKind::Account;
    takes_names && (slot.of_kind().is_empty() || found.is_of(slot.of_kind()) || found.is_unknown())
}
