//! Statements beside an order: of the user, or of the thing that is named. Not here: orders themselves (`orders`).

use crate::{english::english, matching::message::Message};

/// The maximum length, in words, of a sentence before an order that counts as a reaction.
const REACTION: usize = 4;

/// A part of a message that ends where a sentence or half of one does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part<'a> {
    pub(super) text: &'a str,
    /// Whether a full stop or an exclamation mark ends it, and no comma.
    is_sentence: bool,
}

/// Splits a text at its punctuation.
pub(super) fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut begin = 0;
    for (at, mark) in text.match_indices([',', '.', '!', ';']) {
        let after = &text[at + mark.len()..];
        // `e.g. add Acme` is one part.
        let is_abbreviated =
            mark == "." && text[begin..at].strip_suffix('g').is_some_and(|before| before.ends_with('.'));
        if !is_abbreviated && (after.starts_with(' ') || after.is_empty()) {
            parts.push(Part { text: text[begin..at].trim(), is_sentence: matches!(mark, "." | "!") });
            begin = at + mark.len();
        }
    }
    parts.push(Part { text: text[begin..].trim(), is_sentence: true });
    parts.retain(|part| part.text.contains(char::is_alphanumeric));
    parts
}

/// Whether a part says what the user will do: `I'll come back to it`.
fn is_intention(message: &Message<'_>) -> bool {
    let next = message.words.get(message.first()..).unwrap_or_default();
    matches!(next, [i, will, ..] if i.lower == "i" && matches!(will.lower.as_str(), "ll" | "will"))
}

impl Part<'_> {
    /// Whether it is a statement: it begins with a subject. Before an order, a short reaction is one too. Behind an
    /// order, only what is said of its object is: `I take that back` and `that was a joke` may take the order back.
    pub(super) fn is_statement(&self, message: &Message<'_>, is_before: bool) -> bool {
        let Some(first) = message.words.get(message.first()) else { return true };
        // `They said` tells whose words the order is.
        let is_reported = message.words.iter().any(|word| english().reporting.has(&word.lower));
        let is_of_subject = if is_before {
            english().subjects.has(&first.lower) && (first.lower == "i" || !is_reported)
        } else {
            english().singular.has(&first.lower) && !is_reported || is_intention(message)
        };
        let is_of_name =
            message.found.first().is_some_and(|found| found.begin == first.begin && !found.is_unknown());
        let is_reaction =
            is_before && self.is_sentence && message.words.len() <= REACTION && message.found.is_empty();
        !message.text.ends_with('?') && (is_of_subject || is_of_name || is_reaction)
    }
}
