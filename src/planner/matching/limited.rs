//! The parts of a message that had no effect on the calls: a time, names, numbers, kinds, and whole clauses. An answer
//! says so, since it is less than the question.

mod dropped;
mod kinds;
mod order;

use chrono::NaiveDate;
use serde_json::{Map, Value};

use self::{
    dropped::{Called, dropped_parts},
    order::{criteria, superlatives},
};
use super::{
    clauses::without_retraction,
    index::{Index, Indexed},
    lexicon::Words,
    message::Message,
    names::{NameIndex, NameMatch},
    slots::Slot,
};
use crate::english::english;
use toolwire_engine::registry::ExtractKind;

/// The parts of a message that had no effect on the calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    pub time: Option<LeftOutTime>,
    /// The clauses that no called tool is about, and the names, numbers, superlatives, units and orders of sorting of
    /// the others that none takes, in order.
    pub words: Vec<String>,
    /// What of the results is asked for, where no call asks for that part alone. The names are among `words` too.
    pub wanted: Vec<Wanted>,
}

/// The part of a result that a message is about: `Acme` of `when did I buy Acme`, or `sold`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// How the message says it.
    pub said: String,
    /// The list and the field that tell the kind of an entry; `None` of a name, which any field may have.
    pub field: Option<(String, String)>,
    /// What such a field may hold.
    pub values: Vec<String>,
}

impl Wanted {
    /// What a name means, said so.
    fn of_name(said: &str, found: &NameMatch) -> Self {
        let values = found.meanings.iter().map(|(_, value)| value.clone());
        Self {
            said: said.to_owned(),
            field: None,
            values: values.filter(|value| !value.is_empty()).collect(),
        }
    }
}

/// Why the time of a message had no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOutTime {
    /// The message names dates, a past or a future time, or a week or more of the calendar, and no call has a time.
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
    let message = Message::new(without_retraction(message), today, names, &index.words);
    let is_of = |call: &str, it: &Indexed| call == it.tool.definition.name.as_str();
    let is_called = |(_, it): &(usize, &Indexed)| calls.iter().any(|(call, _)| is_of(call, it));
    let called: Vec<_> = index.tools.iter().enumerate().filter(is_called).collect();
    let slots: Vec<_> = called.iter().flat_map(|(_, it)| &it.slots).collect();
    let has_value = |it: &Indexed, slot: &Slot| {
        calls.iter().any(|(call, arguments)| is_of(call, it) && arguments.contains_key(&slot.name))
    };
    let filled = called.iter().flat_map(|(_, it)| it.slots.iter().filter(|slot| has_value(it, slot)));
    let filled: Vec<_> = filled.collect();
    let unused_time = |message: &Message<'_>| unused_time(message, &filled, &slots);
    let takes_texts = |slot: &&Slot| matches!(slot.extract.kind, ExtractKind::Rest | ExtractKind::Topic);
    // A tool that takes free text was given every word, so none is left out.
    if slots.iter().any(takes_texts) {
        return LeftOut { time: unused_time(&message), ..LeftOut::default() };
    }
    let values: Vec<_> = calls.iter().flat_map(|(_, arguments)| arguments.values()).collect();
    let read = |part| Message::new(part, today, names, &index.words);
    let called = Called { index, tools: called, slots: slots.clone(), values };
    let dropped = dropped_parts(&called, &message, words, read);
    let time = if dropped.is_empty() {
        unused_time(&message)
    } else {
        let kept = dropped.iter().fold(message.text.to_owned(), |text, part| text.replacen(part, "", 1));
        unused_time(&Message::new(&kept, today, names, &index.words))
    };
    let unnamed: Vec<_> = message.found.iter().filter(|found| !called.takes(found)).collect();
    let text = |found: &NameMatch| &message.text[found.begin..found.end];
    let mut left = unused_words(&message, &called, words);
    left.extend(unnamed.iter().map(|found| (found.begin, text(found))));
    let place = |part: &str| part.as_ptr() as usize - message.text.as_ptr() as usize;
    let is_within =
        |at: usize| dropped.iter().any(|part| (place(part)..place(part) + part.len()).contains(&at));
    let known = unnamed.iter().filter(|found| !is_within(found.begin) && !found.is_unknown());
    let mut wanted: Vec<_> = known.map(|found| Wanted::of_name(text(found), found)).collect();
    wanted.extend(kinds::wanted(&called, &message, words, is_within));
    left.retain(|(at, _)| !is_within(*at));
    left.extend(dropped.iter().map(|part| (place(part), *part)));
    left.sort_unstable();
    left.dedup_by(|one, other| one.1.eq_ignore_ascii_case(other.1));
    LeftOut { time, words: left.into_iter().map(|(_, word)| word.to_owned()).collect(), wanted }
}

/// The numbers, superlatives, units and orders of sorting that no call takes, each with its position.
fn unused_words<'a>(message: &Message<'a>, called: &Called<'_>, words: &Words) -> Vec<(usize, &'a str)> {
    [unused_numbers(message, called), criteria(called, message, words), superlatives(called, message)]
        .concat()
}

/// `filled` are the parameters that have a value, of all.
fn unused_time(message: &Message<'_>, filled: &[&Slot], all: &[&Slot]) -> Option<LeftOutTime> {
    let times = &message.times;
    let takes_a_time = |slots: &[&Slot]| slots.iter().any(|slot| slot.takes_a_time());
    let is_narrow = times.is_narrow() || times.is_current_but_long();
    if (is_narrow && !takes_a_time(filled)) || (times.is_future && !takes_a_time(all)) {
        return Some(LeftOutTime::Whole);
    }
    let of_calendar = times.is_of_calendar(&message.words);
    (of_calendar && !filled.iter().any(|slot| slot.takes_dates())).then_some(LeftOutTime::Calendar)
}

/// The numbers that no call takes, each with its position. One that something is compared with (`under 15`) is never
/// taken as a number of things, and is named from the first word of the comparison on.
fn unused_numbers<'a>(message: &Message<'a>, called: &Called<'_>) -> Vec<(usize, &'a str)> {
    let mut unused = Vec::new();
    let takes_numbers = called.takes_numbers();
    for (at, word) in message.words.iter().enumerate() {
        // `A 50-day average` has its number in a word, and `#2` is an entry of a list.
        let is_joined = message.text[word.end..].starts_with('-') || is_place(message, at);
        let is_number =
            word.number().is_some_and(|number| number > 1) && !message.times.takes(at) && !is_joined;
        let is_bound = is_number && message.bound(at).is_some();
        let slots = &called.slots;
        let is_of_value =
            || slots.iter().any(|slot| slot.phrases.iter().any(|it| it.0.contains(&word.lower)));
        if is_bound || (is_number && message.tokens[at].is_some() && !takes_numbers && !is_of_value()) {
            let begin = message.words[message.bound(at).unwrap_or(at)].begin;
            unused.push((begin, &message.text[begin..word.end]));
        }
    }
    unused
}

/// Whether a number says which entry of a list is meant.
fn is_place(message: &Message<'_>, at: usize) -> bool {
    let before = at.checked_sub(1).map(|before| message.words[before].lower.as_str());
    message.text[..message.words[at].begin].ends_with('#')
        || before.is_some_and(|before| english().numbered.has(before))
}
