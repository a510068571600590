//! The clauses and halves of a message that no called tool is about. Not here: names and numbers by themselves.

use serde_json::Value;

use crate::{
    english::{Phrase, english},
    matching::{
        clauses::{clauses, joints},
        index::{Index, Indexed},
        inverted_index::Term,
        lexicon::Words,
        message::Message,
        names::NameMatch,
        slots::Slot,
        times::is_calendar,
        words::Word,
    },
    weights::weights,
};
use toolwire_engine::registry::ExtractKind;

/// The tools that were called for a message.
pub(super) struct Called<'a> {
    pub(super) index: &'a Index,
    /// Each with its place in the index.
    pub(super) tools: Vec<(usize, &'a Indexed)>,
    pub(super) slots: Vec<&'a Slot>,
    /// The arguments of all calls.
    pub(super) values: Vec<&'a Value>,
}

impl Called<'_> {
    /// Whether a parameter takes what is named, and a call has it.
    pub(super) fn takes(&self, found: &NameMatch) -> bool {
        let has = |slot: &Slot| found.value(slot.of_kind()).is_none_or(|value| self.has_value(value));
        self.slots.iter().any(|slot| takes(slot, found) && has(slot))
    }

    /// Whether a parameter takes a number of things, or as many as are named.
    pub(super) fn takes_numbers(&self) -> bool {
        let kinds = [ExtractKind::Count, ExtractKind::Days, ExtractKind::Quarters];
        self.slots.iter().any(|slot| kinds.contains(&slot.extract.kind) || slot.fewest > 1)
    }

    /// Whether a call has what is named as it is written.
    fn has_value(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        self.values.iter().any(|value| value.to_string().to_lowercase().contains(&text))
    }

    /// How much a word is one of the called tools', 0 to 1: all of it where no other tool has more of it.
    pub(super) fn share(&self, message: &Message<'_>, (term, at): (Term, usize)) -> f32 {
        let word = &message.words[at];
        let says = |slot: &&Slot| {
            slot.phrases.iter().any(|(phrase, _)| phrase.contains(&word.term) || phrase.contains(&word.lower))
        };
        if self.slots.iter().any(says) {
            return 1.0;
        }
        let postings = self.index.words.postings(term);
        let most = postings.iter().map(|(_, weight)| *weight).fold(0.0, f32::max);
        let is_called = |tool: u32| self.tools.iter().any(|(at, _)| *at == tool as usize);
        let of_called = postings.iter().filter(|(tool, _)| is_called(*tool)).map(|(_, weight)| *weight);
        if most > 0.0 { of_called.fold(0.0, f32::max) / most } else { 0.0 }
    }

    /// Whether an example or a keyword of a called tool has a phrase, in small letters.
    pub(super) fn has_phrase(&self, phrase: &str) -> bool {
        let has = |text: &String| text.to_lowercase().contains(phrase);
        let texts =
            |it: &Indexed| it.tool.definition.utterances.iter().chain(&it.tool.routing.keywords).any(has);
        self.tools.iter().any(|(_, it)| texts(it))
    }
}

/// The parts of a message that no called tool is about, if one is about another part.
pub(super) fn dropped_parts<'a>(
    called: &Called<'_>,
    message: &Message<'a>,
    words: &Words,
    read: impl Fn(&'a str) -> Message<'a>,
) -> Vec<&'a str> {
    let parts = parts(message, words);
    let is_dropped = |(at, part): &(usize, &'a str)| is_dropped(called, &read(part), *at == 0);
    let dropped: Vec<_> =
        parts.iter().copied().enumerate().filter(is_dropped).map(|(_, part)| part).collect();
    if dropped.len() < parts.len() { dropped } else { Vec::new() }
}

/// The clauses and halves of a message, each without the marks around it. No name is cut.
fn parts<'a>(message: &Message<'a>, words: &Words) -> Vec<&'a str> {
    let text = message.text;
    let place = |part: &str| part.as_ptr() as usize - text.as_ptr() as usize;
    let is_in_name = |at: usize| message.found.iter().any(|found| found.begin < at && at < found.end);
    let mut parts = Vec::new();
    for clause in clauses(text, words) {
        let mut begin = 0;
        for joint in joints(clause).into_iter().filter(|joint| !is_in_name(place(clause) + joint.start)) {
            parts.push(&clause[begin..joint.start]);
            begin = joint.end;
        }
        parts.push(&clause[begin..]);
    }
    let mut parts: Vec<_> =
        parts.into_iter().map(|part| part.trim_matches(|c: char| !c.is_alphanumeric())).collect();
    parts.retain(|part| !part.is_empty());
    parts
}

/// Whether a part of a message says something of which the called tools have too little: they are not about most of
/// its words, each weighed by how rare it is. A first part with a name that they take and no wish may only tell about
/// it.
fn is_dropped(called: &Called<'_>, part: &Message<'_>, is_first: bool) -> bool {
    let (english, words) = (english(), &called.index.words);
    let says = |phrase: &&[String]| part.says(part.first(), phrase);
    if !is_first && let Some(phrase) = english.advice.iter().map(Phrase::words).find(says) {
        return !called.has_phrase(&phrase.join(" "));
    }
    if part.times.is_future && !called.slots.iter().any(|slot| slot.takes_a_time()) {
        return true;
    }
    if !is_first && part.content.is_empty() && part.found.is_empty() && !part.times.is_any() {
        return is_about_another(part);
    }
    let (mut taken, mut all, mut left) = (0.0, 0.0, Vec::new());
    for (term, at) in &part.content {
        let is_unknown = words.postings(*term).is_empty();
        let word = &part.words[*at];
        if part.times.takes(*at) || word.number().is_some() || is_calendar(&word.lower) {
            continue;
        }
        let share = called.share(part, (*term, *at));
        let weight = if is_unknown { words.unknown } else { words.rarity(*term) };
        taken += share * weight;
        all += weight;
        if share < weights().others.taken {
            left.push(*at);
        }
    }
    let text = |found: &NameMatch| &part.text[found.begin..found.end];
    let unknown =
        part.found.iter().filter(|found| found.is_unknown() && !called.has_value(text(found))).count();
    for _ in 0..unknown {
        all += words.unknown;
    }
    let is_of_other = part.content.iter().any(|(_, at)| words.is_out_of_scope(&part.words[*at]));
    let is_taken = |found: &NameMatch| !found.is_unknown() && called.takes(found);
    // Of Hindi only few words are known.
    let is_hindi = || part.words.iter().any(|word| part.is_hindi(word));
    let is_question = is_question(part);
    // It asks, or orders what no tool does. `Worried about Acme` only tells.
    let is_form = |word: &Word| word.lower.ends_with("ing") || word.lower.ends_with("ed");
    let is_wish = is_question || (left.contains(&part.first()) && !is_form(&part.words[part.first()]));
    if !is_of_other && ((is_first && !is_wish && part.found.iter().any(is_taken)) || is_hindi()) {
        return false;
    }
    let refers = part.words.iter().any(|word| english.pronouns.has(&word.lower));
    let asks_alone = is_question && !refers && !left.is_empty() && left.len() == part.content.len();
    let says_more = is_of_other || unknown > 0 || left.len() > 1 || asks_alone || says_alone(part, &left);
    says_more && taken < weights().others.taken * all
}

/// Whether a part begins as a question does. `Can't remember` asks nothing.
fn is_question(part: &Message<'_>) -> bool {
    let words = part.words.get(part.first()..).unwrap_or_default();
    matches!(words, [first, rest @ ..] if english().asking.has(&first.lower)
        && rest.first().is_none_or(|word| word.lower != "t"))
}

/// Whether a part is an order about another person, of whom no tool is: `call my mom`.
fn is_about_another(part: &Message<'_>) -> bool {
    let english = english();
    let [verb, of, _] = part.words.as_slice() else { return false };
    let no_verb = [&english.asking, &english.determiners, &english.subjects, &english.fronted];
    let is_verb = !no_verb.iter().any(|words| words.has(&verb.lower));
    is_verb && of.lower != "of" && english.determiners.has(&of.lower) && !part.words[2].is_guess
}

/// Whether the only word of a part that is left is more than a way of speaking: an order's verb with its object (`plot
/// them`), what is wanted (`a haiku`, `how many employees`), or what is foretold (`which of them will double`).
fn says_alone(part: &Message<'_>, left: &[usize]) -> bool {
    let [at] = *left else { return false };
    let before = at.checked_sub(1).map_or("", |before| part.words[before].lower.as_str());
    let is_order = at == part.first() && at + 1 < part.words.len();
    let is_foretold = part.words[part.first().min(at)..at].iter().any(|word| word.lower == "will");
    is_order || is_foretold || matches!(before, "a" | "an" | "many") || english().determiners.has(before)
}

/// Whether a parameter takes what is named.
fn takes(slot: &Slot, found: &NameMatch) -> bool {
    let takes_names = slot.takes_names() || slot.extract.kind == ExtractKind::Account;
    takes_names && (slot.of_kind().is_empty() || found.is_of(slot.of_kind()) || found.is_unknown())
}
