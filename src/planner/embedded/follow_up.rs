//! The earlier turns: the names in them, to which a message may refer, and the question that it may answer.

use serde_json::{Map, Value};

use crate::{
    Exchange, PlannedCall,
    english::{WordSet, english},
    matching::{
        index::{Index, Indexed},
        lexicon::Words,
        message::Message,
        names::NameMatch,
        slots::{Filled, Slot, SlotContext},
        words::{Word, is_too_long},
    },
};

/// The state of a conversation before the message.
#[derive(Debug, Default)]
pub(crate) struct Before<'a> {
    /// The names: kind and value, the newest first.
    pub(crate) named: Vec<(String, String)>,
    /// The last message, if a question of the planner was its answer.
    pub(crate) pending: Option<&'a str>,
}

impl<'a> Before<'a> {
    /// Reads the earlier turns. `read` reads a message.
    pub(crate) fn new(
        history: &'a [Exchange],
        index: &'a Index,
        read: impl Fn(&'a str) -> Message<'a>,
    ) -> Self {
        let mut before = Self::default();
        let Some(last) = history.last() else { return before };
        before.pending = Some(last.said.as_str()).filter(|said| last.is_open && !is_too_long(said));
        for exchange in history.iter().rev() {
            let mut is_of_any = exchange.calls.is_empty();
            for call in &exchange.calls {
                let Some(tool) = index.place(&call.tool) else { continue };
                before.name(index, tool, call);
                is_of_any |= takes_any_kind(index, tool);
            }
            if is_of_any && !is_too_long(&exchange.said) {
                before.name_said(&read(&exchange.said));
            }
        }
        before
    }

    /// Adds the names of a message without calls.
    fn name_said(&mut self, message: &Message<'_>) {
        let known = message.found.iter().filter(|found| !found.is_unknown());
        let meanings: Vec<_> = known.flat_map(|found| &found.meanings).collect();
        let is_new = |(kind, value): &&&(String, String)| {
            !value.is_empty() && self.named.iter().all(|(named, _)| named != kind)
        };
        let new: Vec<_> = meanings.iter().filter(is_new).map(|it| (*it).clone()).collect();
        self.named.extend(new);
    }

    /// Adds the names in a call's arguments. Of each kind, the newest call with a name counts.
    fn name(&mut self, index: &Index, tool: usize, call: &PlannedCall) {
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
}

/// The last call once more, for a message that only names something else: `And Acme?`
pub(crate) fn again(
    index: &Index,
    history: &[Exchange],
    message: &Message<'_>,
) -> Option<(usize, Vec<PlannedCall>)> {
    let [last] = history.last()?.calls.as_slice() else { return None };
    let place = index.place(&last.tool)?;
    let tool = &index.tools[place];
    let denies = (0..message.words.len()).any(|at| message.is_negation(at));
    let asks_else = message.words.iter().any(|word| english().operators.has(&word.lower));
    let says_more = !message.content.is_empty() || message.times.is_any() || denies || asks_else;
    let given = SlotContext { message, carried: &[], account: None, refers: false };
    let filled = Filled::new(&tool.slots, given);
    let slot = &tool.slots[*filled.from_message.first()?];
    let is_taken = |found: &NameMatch| {
        let is_clear = found.candidates.is_empty() && !found.is_guess && !found.is_unknown();
        is_clear && found.value(slot.of_kind()).is_some()
    };
    let is_again = tool.is_read && !says_more && slot.fewest < 2 && message.found.iter().all(is_taken);
    let of = |given: Map<String, Value>| {
        let mut arguments = last.arguments.clone();
        arguments.extend(given.into_iter().filter(|(name, _)| *name == slot.name));
        let reason = "the last call, with another name".to_owned();
        PlannedCall { tool: last.tool.clone(), arguments, reason, by_model: None }
    };
    let calls: Vec<_> = filled.clone().calls().into_iter().map(of).collect();
    is_again.then_some((place, calls))
}

/// Whether a message goes on from the last call, as `and sold?` does, and its own calls lack an argument of that one
/// which their tool takes too, such as a time.
pub(crate) fn loses_argument(
    history: &[Exchange],
    message: &Message<'_>,
    tool: &Indexed,
    calls: &[PlannedCall],
) -> bool {
    let goes_on = message.words.first().is_some_and(|word| english().next.has(&word.lower));
    let last = history.last().and_then(|exchange| exchange.calls.last()).filter(|_| goes_on);
    let mut names = last.into_iter().flat_map(|call| call.arguments.keys());
    names.any(|name| {
        tool.slots.iter().any(|slot| slot.name == *name)
            && calls.iter().all(|call| !call.arguments.contains_key(name))
    })
}

/// Whether a tool takes names of any kind.
fn takes_any_kind(index: &Index, tool: usize) -> bool {
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
