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
            || lower(at) == "my"
            || (english.fronted.has(lower(at)) && english.asking.has(lower(at + 1)))
    };
    let said = message.content.first().map(|(_, at)| *at);
    let named = message.found.first().map(|found| words.partition_point(|word| word.begin < found.begin));
    let first = said.unwrap_or(words.len());
    let first_named = named.map_or(first, |named| named.min(first));
    let end = words.len() - message.tag();
    let is_second = |at: &usize| {
        let between = &text[words[*at - 1].end..words[*at].begin];
        let is_sentence = between.contains(['?', '!', ';', '\n']) || between.contains(". ");
        let is_next = english.next.has(&words[*at - 1].lower) && *at > first_named + 1;
        let is_joined = between.contains(',') && *at > first;
        *at + 1 < end && ((is_sentence && *at > first) || ((is_joined || is_next) && begins(*at)))
    };
    (1..words.len()).find(is_second).map(|at| words[at].begin)
}
