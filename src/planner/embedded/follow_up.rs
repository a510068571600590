//! The earlier turns: the last calls and the names in them, to which a message may refer.

use std::cell::LazyCell;

use serde_json::Value;

use crate::{
    Exchange, PlannedCall,
    english::{Phrase, WordSet, english},
    matching::{index::Index, lexicon::Words, message::Message, names::ACCOUNT, slots::Slot, words::Word},
};
use toolwire_engine::registry::ExtractKind;

/// The maximum number of words of a message that only gives values of the last call.
const MOST_VALUES: usize = 3;

/// Calls, each with the place of its tool in the index. They are computed when they are first read.
type LazyCalls<'a> = LazyCell<Vec<(usize, PlannedCall)>, Box<dyn FnOnce() -> Vec<(usize, PlannedCall)> + 'a>>;

/// The state of a conversation before the message.
#[derive(Debug)]
pub(crate) struct Before<'a> {
    /// The last calls. Few messages depend on them, and they may cost a plan of the last message.
    pub(crate) calls: LazyCalls<'a>,
    /// The names: kind and value, the newest first.
    pub(crate) named: Vec<(String, String)>,
    /// The last message, if a question of the planner was its answer.
    pub(crate) pending: Option<&'a str>,
}

impl Default for Before<'_> {
    fn default() -> Self {
        Self { calls: LazyCell::new(Box::new(Vec::new)), named: Vec::new(), pending: None }
    }
}

impl<'a> Before<'a> {
    /// Reads the earlier turns. `read` reads a message. `planned` returns the calls of the last turn that the history
    /// does not have; they come before those that it has.
    pub(crate) fn new(
        history: &'a [Exchange],
        index: &'a Index,
        read: impl Fn(&'a str) -> Message<'a>,
        planned: impl FnOnce() -> Vec<PlannedCall> + 'a,
    ) -> Self {
        let mut before = Self::default();
        let Some(last) = history.last() else { return before };
        before.pending = last.is_open.then_some(last.said.as_str());
        for exchange in history.iter().rev() {
            let mut is_of_any = exchange.calls.is_empty();
            for call in &exchange.calls {
                let Some(tool) = index.place(&call.tool) else { continue };
                before.name(index, tool, call);
                is_of_any |= takes_any_kind(index, tool);
            }
            if is_of_any {
                before.name_said(&read(&exchange.said));
            }
        }
        before.calls = LazyCell::new(Box::new(move || {
            let placed = |call: PlannedCall| Some((index.place(&call.tool)?, call));
            let planned: Vec<_> = planned().into_iter().filter_map(placed).collect();
            if !planned.is_empty() {
                return planned;
            }
            let last = history.iter().rev().find(|exchange| !exchange.calls.is_empty());
            last.into_iter().flat_map(|exchange| &exchange.calls).cloned().filter_map(placed).collect()
        }));
        before
    }

    /// The state right behind these calls.
    pub(crate) fn of_calls(index: &Index, calls: &[PlannedCall]) -> Self {
        let placed = calls.iter().filter_map(|call| Some((index.place(&call.tool)?, call.clone())));
        let placed: Vec<_> = placed.collect();
        Self { calls: LazyCell::new(Box::new(|| placed)), ..Self::default() }
    }

    /// Adds the names of a message without calls.
    pub(crate) fn name_said(&mut self, message: &Message<'_>) {
        let known = message.found.iter().filter(|found| !found.is_unknown());
        for (kind, value) in known.flat_map(|found| &found.meanings) {
            if !value.is_empty() && self.named.iter().all(|(named, _)| named != kind) {
                self.named.push((kind.clone(), value.clone()));
            }
        }
    }

    /// Adds the names in a call's arguments. Of each kind, the newest call with a name counts.
    pub(crate) fn name(&mut self, index: &Index, tool: usize, call: &PlannedCall) {
        for slot in index.tools[tool].slots.iter().filter(|slot| slot.takes_names()) {
            let of = slot.of_kind();
            // Of which kind a thing is that may be of any, only the message tells.
            if of.is_empty() || self.named.iter().any(|(kind, _)| kind == of) {
                continue;
            }
            let values = names_in(slot, call).into_iter();
            self.named.extend(values.map(|value| (of.to_owned(), value.to_owned())));
        }
    }

    /// The names of a kind in all of the last calls.
    pub(crate) fn named_by_calls(&self, index: &Index, of: &str) -> Vec<&str> {
        let mut all = Vec::new();
        for (tool, call) in self.calls.iter() {
            let slots = index.tools[*tool].slots.iter();
            for slot in slots.filter(|slot| slot.takes_names() && slot.of_kind() == of) {
                all.extend(names_in(slot, call));
            }
        }
        all
    }
}

/// Whether a tool takes names of any kind.
pub(crate) fn takes_any_kind(index: &Index, tool: usize) -> bool {
    index.tools[tool].slots.iter().any(|slot| slot.takes_names() && slot.of_kind().is_empty())
}

/// The names in the argument of a call.
fn names_in<'a>(slot: &Slot, call: &'a PlannedCall) -> Vec<&'a str> {
    let joined = slot.extract.join.as_deref().unwrap_or("\n");
    match call.arguments.get(&slot.name) {
        Some(Value::String(text)) => text.split(joined).collect(),
        Some(Value::Array(all)) => all.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Whether a message begins with a lead, such as `what about`: it only changes the last call.
pub(crate) fn leads(message: &Message<'_>) -> bool {
    english().leads.iter().any(|lead| message.says(0, lead.words()))
}

/// Whether a message has nothing but a lead and names.
pub(crate) fn is_bare(message: &Message<'_>) -> bool {
    let lead = lead(message);
    message.content.iter().all(|(_, word)| *word < lead)
}

/// Whether a message has nothing but a lead, times and accounts, so that it only gives another value.
pub(crate) fn is_bare_value(message: &Message<'_>) -> bool {
    let lead = lead(message);
    let says_nothing = |at: usize| at < lead || message.times.takes(at);
    message.content.iter().all(|(_, word)| says_nothing(*word))
        && message.found.iter().all(|found| found.is_of(ACCOUNT))
        && (lead > 0 || message.times.is_any() || message.found.iter().any(|found| found.is_of(ACCOUNT)))
}

/// Whether a message has nothing but words and numbers that a parameter of the last tool takes, and names of such
/// parameters: `use the core profile`.
pub(crate) fn is_value_of(index: &Index, message: &Message<'_>, before: &Before<'_>) -> bool {
    let is_number = !message.content.is_empty() && message.content.len() <= MOST_VALUES;
    if !message.found.is_empty() || !is_number || denies(message) {
        return false;
    }
    let slots = || before.calls.iter().flat_map(|(tool, _)| &index.tools[*tool].slots);
    let is_taken = |at: usize| {
        let word = &message.words[at];
        let is_of = |slot: &Slot| match slot.extract.kind {
            ExtractKind::Words | ExtractKind::Profile => {
                slot.name == word.lower || slot.phrases.iter().any(|(phrase, _)| phrase.contains(&word.lower))
            }
            ExtractKind::Count => word.number().is_some(),
            _ => false,
        };
        message.times.takes(at) || slots().any(is_of)
    };
    message.content.iter().all(|(_, at)| is_taken(*at))
}

/// Whether a message denies something, or has a number below zero.
pub(crate) fn denies(message: &Message<'_>) -> bool {
    let is_below_zero = |word: &Word| word.number().is_some() && message.text[..word.begin].ends_with('-');
    message.words.iter().any(|word| english().negations.has(&word.lower) || is_below_zero(word))
}

/// The number of words of a message's lead.
pub(crate) fn lead(message: &Message<'_>) -> usize {
    let leads = english().leads.iter().map(Phrase::words).filter(|lead| message.says(0, lead));
    leads.map(<[_]>::len).max().unwrap_or(0)
}

/// Whether a message refers to an earlier name by a word such as `it`.
pub(crate) fn has_pronoun(message: &Message<'_>, lexicon: &Words) -> bool {
    let english = english();
    let is = |words: &WordSet, at: usize| message.words.get(at).is_some_and(|word| words.has(&word.lower));
    let ends = |at: usize| message.words.get(at).is_none_or(Word::is_stop);
    let is_thing = |at: usize| message.words.get(at).is_some_and(|word| lexicon.things.contains(&word.lower));
    // `That stock`, or `add that to my list`.
    let points = |at: usize| {
        is(&english.pointing, at) && (is(&english.directions, at + 1) || (is_thing(at + 1) && ends(at + 2)))
    };
    let stands_alone = |at: usize| is(&english.demonstratives, at) && ends(at + 1);
    (0..message.words.len()).any(|at| is(&english.pronouns, at) || points(at) || stands_alone(at))
}
