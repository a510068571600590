//! The object of a change: which of two lists a message adds to, which names must be given, and whether on a condition.
//! Not here: whether the message orders the change (`orders`).

use serde_json::Value;

use super::{
    abstain::{question, question_of},
    follow_up::{Before, has_pronoun},
};
use crate::{
    matching::{
        conditions::has_condition,
        index::{Index, Indexed},
        lexicon::Words,
        message::Message,
        names::is_of_kind,
        rank::Candidate,
        slots::{Filled, Slot, SlotContext},
    },
    weights::weights,
};
use toolwire_engine::registry::Category;

/// The meaning of a message that orders a change after a call that takes several names.
pub(super) enum Meant {
    Change,
    /// The last call with one name more.
    Last,
    /// Unclear: the question which of them.
    Either(String),
}

/// Resolves `add Wipro` after a comparison: to the list for which its other words speak clearly.
pub(super) fn resolve_target(
    index: &Index,
    change: usize,
    before: &Before<'_>,
    whole: &Message<'_>,
) -> Meant {
    // A deletion adds nothing to a list.
    if index.tools[change].tool.definition.category != Category::Write {
        return Meant::Change;
    }
    let Some((last, _)) = before.calls.iter().find(|(tool, _)| names_more(index, *tool, whole)) else {
        return Meant::Change;
    };
    let verb = whole.words.get(whole.first()).map(|word| &word.term);
    let others = whole.content.iter().filter(|(_, at)| Some(&whole.words[*at].term) != verb);
    let others: Vec<_> = others.map(|(term, _)| index.words.postings(*term)).collect();
    let about = |tool: usize| {
        let of_tool = others.iter().flat_map(|of| of.iter().filter(|(at, _)| *at as usize == tool));
        of_tool.map(|(_, weight)| weight).sum::<f32>()
    };
    let clearly = weights().others.clearly;
    match (about(change), about(*last)) {
        (change, last) if change > clearly * last => Meant::Change,
        (change, last) if last > clearly * change => Meant::Last,
        _ => {
            let title = |tool: usize| format!("“{}”", index.tools[tool].tool.definition.title);
            let said = whole.text.trim_end_matches(['?', '.', '!', ' ']);
            let (last, change) = (title(*last), title(change));
            Meant::Either(format!("Does “{said}” mean {last}, with those of before, or {change}?"))
        }
    }
}

/// Whether a tool takes several names.
pub(super) fn takes_several(index: &Index, tool: usize) -> bool {
    index.tools[tool].slots.iter().any(|slot| slot.fewest > 1)
}

/// Whether a tool takes several names, of the kind of one in the message.
fn names_more(index: &Index, tool: usize, message: &Message<'_>) -> bool {
    let takes = |slot: &Slot| slot.fewest > 1 && message.found.iter().any(|it| it.is_of(slot.of_kind()));
    index.tools[tool].slots.iter().any(takes)
}

/// The question for a name that a change needs: the message must give it, or refer by a pronoun to one thing.
pub(super) fn ask_for_name(
    index: &Index,
    candidate: &Candidate,
    given: SlotContext<'_>,
    before: &Before<'_>,
    words: &Words,
) -> Option<String> {
    let tool = &index.tools[candidate.tool];
    if tool.is_read {
        return None;
    }
    let is_unnamed = |(at, slot): &(usize, &_)| is_unsaid(*at, slot, &candidate.filled);
    let (_, slot) = tool.slots.iter().enumerate().find(is_unnamed)?;
    if !has_pronoun(given.message, words) {
        return Some(question(slot, given.message, words));
    }
    // `Add that` behind two names may mean either.
    let named =
        given.carried.iter().filter(|(kind, _)| is_of_kind(kind, slot.of_kind())).map(|(_, value)| value);
    let mut all: Vec<_> = named.map(String::as_str).collect();
    let of_calls = before.named_by_calls(index, slot.of_kind());
    let value = candidate.filled.arguments.get(&slot.name).and_then(Value::as_str);
    if value.is_some_and(|value| of_calls.contains(&value)) {
        all.extend(of_calls);
    }
    all.sort_unstable();
    all.dedup();
    (all.len() > 1).then(|| question_of(slot, &all, words))
}

/// Whether the change is ordered on a condition.
pub(super) fn is_on_condition(tool: &Indexed, message: &Message<'_>) -> bool {
    let notes: Vec<_> = tool.slots.iter().filter_map(|slot| slot.note(message)).collect();
    has_condition(message, &notes)
}

/// The answer to a message that nearly orders a change: an example of an order.
pub(super) fn ask_for_order(tool: &Indexed, message: &Message<'_>) -> String {
    let why = if is_on_condition(tool, message) {
        "I change nothing on a condition. Tell me when it is to be done"
    } else {
        "I change something only if I understand the whole order"
    };
    match tool.tool.definition.utterances.first() {
        Some(example) => format!("{why}, such as: “{example}”"),
        None => format!("{why}."),
    }
}

fn is_unsaid(at: usize, slot: &Slot, filled: &Filled) -> bool {
    slot.is_required && slot.takes_names() && !filled.from_message.contains(&at)
}
