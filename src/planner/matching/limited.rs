//! The parts of a message that had no effect on the calls: a time, names, numbers and words. An answer says so, since
//! it is less narrow than the question.

use chrono::NaiveDate;

use super::{
    index::{Index, Indexed},
    message::Message,
    names::{NameIndex, NameMatch},
    slots::Slot,
    times::is_calendar,
    words::is_filler,
};
use toolwire_engine::registry::ExtractKind;

/// The parts of a message that had no effect on the calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    pub time: Option<LeftOutTime>,
    /// The names and numbers that no called tool takes, and the words that belong to none, in order.
    pub words: Vec<String>,
}

/// Why the time of a message had no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOutTime {
    /// The message names dates or a past time, and no called tool takes a time.
    Whole,
    /// The message names a time of the calendar, and the called tools only take times that end now.
    Calendar,
}

/// The parts of a message that had no effect on the calls of these tools.
pub(crate) fn left_out(
    index: &Index,
    names: &NameIndex,
    called: &[&str],
    message: &str,
    today: NaiveDate,
) -> LeftOut {
    let message = Message::new(message, today, names, &index.words);
    let is_called = |(_, it): &(usize, &Indexed)| called.contains(&it.tool.definition.name.as_str());
    let called: Vec<_> = index.tools.iter().enumerate().filter(is_called).collect();
    let slots: Vec<_> = called.iter().flat_map(|(_, it)| &it.slots).collect();
    let time = unused_time(&message, &slots);
    let takes_texts = |slot: &&Slot| matches!(slot.extract.kind, ExtractKind::Rest | ExtractKind::Topic);
    // A tool that takes free text was given every word, so none is left out.
    if slots.iter().any(takes_texts) {
        return LeftOut { time, words: Vec::new() };
    }
    let unnamed = message.found.iter().filter(|found| !slots.iter().any(|slot| takes(slot, found)));
    let mut words: Vec<_> =
        unnamed.map(|found| (found.begin, &message.text[found.begin..found.end])).collect();
    words.extend(unused_words(index, &called, &message, &slots));
    words.extend(unused_numbers(&message, &slots));
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

/// The words that are neither of a called tool nor a value, a time or a number, each with its position.
fn unused_words<'a>(
    index: &Index,
    called: &[(usize, &Indexed)],
    message: &Message<'a>,
    slots: &[&Slot],
) -> Vec<(usize, &'a str)> {
    let mut unused = Vec::new();
    for (term, at) in &message.content {
        let word = &message.words[*at];
        let is_of_tool = |(tool, _): &(u32, f32)| called.iter().any(|(at, _)| *at == *tool as usize);
        let is_of_value = |slot: &&Slot| slot.phrases.iter().any(|(phrase, _)| phrase.contains(&word.term));
        let is_used = index.words.postings(*term).iter().any(is_of_tool)
            || slots.iter().any(is_of_value)
            || message.times.takes(*at)
            || word.number().is_some()
            || is_calendar(&word.lower)
            || is_filler(&word.term);
        if !is_used {
            unused.push((word.begin, &message.text[word.begin..word.end]));
        }
    }
    unused
}

/// The numbers that no called tool takes, each with its position. One that something is compared with (`under 15`) is
/// never taken as a number of things, and is named from the first word of the comparison on.
fn unused_numbers<'a>(message: &Message<'a>, slots: &[&Slot]) -> Vec<(usize, &'a str)> {
    let mut unused = Vec::new();
    let takes_numbers = slots.iter().any(|slot| takes_numbers(slot));
    for (at, word) in message.words.iter().enumerate() {
        let is_number = word.number().is_some_and(|number| number > 1) && !message.times.takes(at);
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
