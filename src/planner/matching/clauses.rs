//! The second question of a message that asks for more than one thing.

use super::{lexicon::Words, message::Message};
use crate::english::english;

/// Where a second question or order begins, in bytes: behind the end of a sentence, or behind `and` or a comma with a
/// word that begins one. What only greets or tells a name is no first one.
pub(crate) fn second_question(message: &Message<'_>, lexicon: &Words) -> Option<usize> {
    let (text, words, english) = (message.text, &message.words, english());
    let begins = |at: usize| {
        let lower = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
        english.asking.has(lower(at))
            || lexicon.verbs.contains(lower(at))
            || (english.fronted.has(lower(at)) && english.asking.has(lower(at + 1)))
    };
    let first = message.content.first().map(|(_, at)| *at)?;
    let says = |at: usize| message.content.last().is_some_and(|(_, last)| *last >= at);
    let is_second = |at: &usize| {
        let between = &text[words[*at - 1].end..words[*at].begin];
        let is_sentence = between.contains(['?', '!', ';', '\n']) || between.contains(". ");
        let is_joined = between.contains(',') || english.next.has(&words[*at - 1].lower);
        *at > first && says(*at) && (is_sentence || (is_joined && begins(*at)))
    };
    (1..words.len()).find(is_second).map(|at| words[at].begin)
}
