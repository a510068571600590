//! The words of a message that a call does not cover: content words of another subject, negations, corrected
//! spellings, and a second question. With one of them nothing is shown before the user has said yes.

use std::collections::HashMap;

use serde_json::Value;

use crate::{
    Offer,
    english::english,
    matching::{
        clauses::second_question,
        index::Indexed,
        message::Message,
        names::NameMatch,
        rank::Candidate,
        slots::{Slot, joined_values, value_places},
        words::Word,
    },
};
use toolwire_engine::registry::ExtractKind;

/// Maximum number of small words between one and the time that it belongs to.
const MOST_SMALL: usize = 3;

/// The parts of a message that the call of a candidate does not cover, in order.
pub(super) fn uncovered<'a>(offer: &Offer, message: &Message<'a>, candidate: &Candidate) -> Vec<&'a str> {
    let index = offer.index();
    let call = Call { tool: &index.tools[candidate.tool], candidate, message };
    let covered = call.covered();
    let mut parts = Vec::new();
    for found in message.found.iter().filter(|found| !call.takes_name(offer, found)) {
        parts.push((found.begin, found.end));
    }
    let is_named = |word: &Word| message.name_at(word).is_some();
    for (term, at) in &message.content {
        let word = &message.words[*at];
        // A time or a number is covered by a value alone.
        let is_plain = || word.number().is_none() && !message.times.takes(*at);
        let is_own = || index.words.is_own(*term, candidate.tool) && is_plain();
        let is_taken = covered[*at] || is_own() || call.is_thing(offer, word);
        if !is_named(word) && !is_taken {
            parts.push((word.begin, word.end));
        }
    }
    // `It` must be what was named before, or in the message, and the call must have it.
    let refers = candidate.takes_carried || !message.found.is_empty();
    let mut own_operators: HashMap<&str, bool> = HashMap::new();
    for (at, word) in message.words.iter().enumerate().skip(message.first()) {
        let is_free = || !covered[at] && !is_named(word) && !call.is_bound(at, &covered);
        let is_operator = english().operators.has(&word.lower) && is_free();
        let mut is_own =
            || *own_operators.entry(word.lower.as_str()).or_insert_with(|| call.has_word(&word.lower));
        let is_corrected = word.is_guess && !is_named(word);
        let refers_to_nothing = english().pronouns.has(&word.lower) && !refers;
        // A small word too, such as `today`.
        let is_other_time = message.times.takes(at) && !covered[at] && !is_named(word);
        let is_unclear = is_corrected || refers_to_nothing || is_other_time || message.is_negation(at);
        if is_unclear || (is_operator && !is_own()) {
            parts.push((word.begin, word.end));
        }
    }
    parts.extend(call.other_values());
    if let Some(begin) = second_question(message, offer.words()) {
        parts.retain(|(_, end)| *end <= begin);
        parts.push((begin, message.text.trim_end_matches(|c: char| !c.is_alphanumeric()).len()));
    }
    parts.sort_unstable();
    parts.dedup();
    parts.into_iter().map(|(begin, end)| &message.text[begin..end]).collect()
}

/// A call that a message may mean.
struct Call<'a> {
    tool: &'a Indexed,
    candidate: &'a Candidate,
    message: &'a Message<'a>,
}

impl Call<'_> {
    /// The slots that the message itself fills.
    fn said(&self) -> impl Iterator<Item = &Slot> {
        self.candidate.filled.from_message.iter().map(|at| &self.tool.slots[*at])
    }

    /// Of each word, whether it is a part of a time, a number, a value or a topic that the call has.
    fn covered(&self) -> Vec<bool> {
        let message = self.message;
        let mut covered = vec![false; message.words.len()];
        let times = &message.times;
        let takes_a_time = self.tool.slots.iter().any(Slot::takes_a_time);
        let has_time = self.said().any(Slot::takes_a_time);
        let has_dates = self.said().any(Slot::takes_dates);
        if has_time && !times.is_future {
            let span = times.spans.first().filter(|_| has_dates || !times.is_of_calendar(&message.words));
            for at in span.into_iter().flat_map(|span| span.first..span.end) {
                covered[at] = true;
            }
            for (at, covered) in covered.iter_mut().enumerate() {
                *covered |= times.is_date(at) && times.is_one() && (has_dates || times.spans.is_empty());
            }
        }
        for (at, covered) in covered.iter_mut().enumerate() {
            let is_now = times.is_today() && !takes_a_time && times.takes(at);
            let is_ever = times.is_ever(at) && (has_time || has_dates || !takes_a_time);
            let number = message.words[at].number();
            *covered |= is_now || is_ever || number.is_some_and(|number| self.has_number(number));
        }
        for slot in self.said() {
            let argument = self.candidate.filled.arguments.get(&slot.name);
            let value = match argument {
                Some(Value::String(value)) => value.as_str(),
                Some(Value::Bool(true)) => "true",
                _ => continue,
            };
            let places = value_places(slot, message).filter(|(_, it)| *it == value);
            for at in places.flat_map(|(place, _)| place) {
                covered[at] = true;
            }
        }
        if self.said().any(|slot| slot.extract.kind == ExtractKind::Topic) {
            let asks = |word: &Word| {
                english().before_topic.has(&word.lower) || english().after_topic.has(&word.lower)
            };
            for (at, covered) in covered.iter_mut().enumerate() {
                *covered |= asks(&message.words[at]);
            }
        }
        covered
    }

    /// Whether a number is the value of a parameter.
    fn has_number(&self, number: u32) -> bool {
        let kinds = [ExtractKind::Count, ExtractKind::Days, ExtractKind::Quarters];
        let is_it = |slot: &Slot| {
            kinds.contains(&slot.extract.kind)
                && self.candidate.filled.arguments.get(&slot.name) == Some(&Value::from(number))
        };
        self.said().any(is_it)
    }

    /// Whether the call has what is named, as it is written. The words of a topic must be the tool's own.
    fn takes_name(&self, offer: &Offer, found: &NameMatch) -> bool {
        if found.is_guess {
            return false;
        }
        let filled = &self.candidate.filled;
        let has = |slot: &Slot| {
            let takes_names = slot.takes_names() || slot.extract.kind == ExtractKind::Account;
            let Some(value) = found.value(slot.of_kind()).filter(|_| takes_names) else { return false };
            let others = filled.others.iter().filter(|(name, _)| *name == slot.name);
            let is_in = |text: &str| text.split(',').any(|part| part.trim() == value) || text == value;
            let is_first = match filled.arguments.get(&slot.name) {
                Some(Value::String(text)) => is_in(text),
                Some(Value::Array(all)) => all.iter().any(|it| it == value),
                _ => false,
            };
            is_first || others.flat_map(|(_, values)| values).any(|other| other == value)
        };
        let words = &offer.index().words;
        let is_within = |word: &&Word| found.begin <= word.begin && word.end <= found.end;
        let is_own = || {
            let mut own = self.message.words.iter().filter(is_within);
            own.all(|word| words.term(word).is_some_and(|term| words.is_own(term, self.candidate.tool)))
        };
        // `Is Acme on my list?` is an example of the tool, if one of its examples has a name of the kind.
        let is_of = |it: &NameMatch| found.meanings.iter().any(|(kind, _)| it.is_of(kind));
        let has_one = |text: &String| offer.names().find_known(text).iter().any(is_of);
        let is_clear = !found.is_unknown() && found.candidates.is_empty();
        let has_example = || self.tool.tool.definition.utterances.iter().any(has_one);
        let is_said = self.candidate.is_said && is_clear && has_example();
        is_said || self.tool.slots.iter().any(has) || (found.is_unknown() && is_own())
    }

    /// Whether a word is what things are called that the tool takes: `the Acme stock`.
    fn is_thing(&self, offer: &Offer, word: &Word) -> bool {
        offer.words().things.contains(&word.lower) && self.said().any(Slot::takes_names)
    }

    /// Whether an example or a keyword of the tool has a word.
    fn has_word(&self, lower: &str) -> bool {
        let texts = self.tool.tool.definition.utterances.iter().chain(&self.tool.tool.hints.keywords);
        let mut words = texts.flat_map(|text| text.split(|c: char| !c.is_alphanumeric()));
        words.any(|word| word.eq_ignore_ascii_case(lower))
    }

    /// Whether a word is a small one before a time that the call has: `since June`, `over the last year`.
    fn is_bound(&self, at: usize, covered: &[bool]) -> bool {
        let small = [&english().determiners, &english().since, &english().until, &english().during];
        let is_small = |word: &Word| small.iter().any(|all| all.has(&word.lower)) || word.lower == "over";
        let behind = &self.message.words[at + 1..];
        let next = at + 1 + behind.iter().take(MOST_SMALL).take_while(|word| is_small(word)).count();
        is_small(&self.message.words[at])
            && (at + 1..=next).any(|at| self.message.times.takes(at) && covered.get(at) == Some(&true))
    }

    /// Where further values of a parameter stand that takes one: `the best and the worst`.
    fn other_values(&self) -> Vec<(usize, usize)> {
        let words = &self.message.words;
        let places = self.said().flat_map(|slot| joined_values(slot, self.message));
        places.map(|place| (words[place.start].begin, words[place.end - 1].end)).collect()
    }
}
