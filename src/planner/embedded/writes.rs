//! The object of a change: which of two lists a message adds to, and which names must be given. Not here: whether the
//! message orders the change (`orders`).

use super::{
    abstain::question,
    follow_up::{Before, has_pronoun},
};
use crate::{
    matching::{
        index::{Index, Indexed},
        lexicon::Words,
        message::Message,
        slots::{Filled, Slot},
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

/// The question for a name that a change needs: the message must give it, or refer to it by a pronoun.
pub(super) fn ask_for_name(
    tool: &Indexed,
    filled: &Filled,
    message: &Message<'_>,
    words: &Words,
) -> Option<String> {
    if tool.is_read || has_pronoun(message, words) {
        return None;
    }
    let is_unnamed = |(at, slot): &(usize, &_)| is_unsaid(*at, slot, filled);
    let (_, slot) = tool.slots.iter().enumerate().find(is_unnamed)?;
    Some(question(slot, message, words))
}

fn is_unsaid(at: usize, slot: &Slot, filled: &Filled) -> bool {
    slot.is_required && slot.takes_names() && !filled.from_message.contains(&at)
}
