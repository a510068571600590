//! Whether what a message orders depends on a condition: `if Acme falls, add it to my list`.

use super::{
    message::{Message, is_asking},
    slots::Note,
    words::Word,
};
use crate::english::english;

/// Whether a clause of a message is a condition: one that stands in no note, and is no question, direct or indirect.
pub(crate) fn has_condition(message: &Message<'_>, notes: &[Note]) -> bool {
    let is_noted =
        |word: &Word| notes.iter().any(|note| (note.cue.start..note.text.end).contains(&word.begin));
    let begins = |at: usize| {
        let phrases = english().conditions.iter().filter(|phrase| message.says(at, phrase.words()));
        let end = phrases.map(|phrase| at + phrase.words().len()).max();
        end.is_some_and(|end| is_condition(message, at, end))
    };
    let mut places = message.words.iter().enumerate().filter(|(_, word)| !is_noted(word));
    places.any(|(at, _)| begins(at)) || is_inverted(message)
}

/// Whether the words of a condition at a place begin one.
fn is_condition(message: &Message<'_>, at: usize, end: usize) -> bool {
    let before = at.checked_sub(1).map(|before| &message.words[before]);
    // `Tell me if …` asks.
    let asks = before.is_some_and(|before| {
        let is_next = message.text[before.end..message.words[at].begin].trim().is_empty();
        is_next && english().indirect.has(&before.lower)
    });
    let behind = message.words.get(end);
    match message.words[at].lower.as_str() {
        // `When is …` asks.
        "when" => !asks && behind.is_some_and(|word| !is_asking(&word.lower)),
        // `Once more` and `once a week` say how often.
        "once" => behind.is_some_and(|word| is_subject(message, word)),
        _ => !asks && behind.is_some(),
    }
}

/// Whether a clause begins with `should` and its subject: `should Acme fall, …`. One of oneself asks.
fn is_inverted(message: &Message<'_>) -> bool {
    let Some([should, subject, ..]) = message.words.get(message.first()..) else { return false };
    should.lower == "should"
        && message.text.contains(',')
        && is_subject(message, subject)
        && !matches!(subject.lower.as_str(), "i" | "we")
}

/// Whether a word begins what something is said of.
fn is_subject(message: &Message<'_>, word: &Word) -> bool {
    let english = english();
    let is_small = english.subjects.has(&word.lower) || english.determiners.has(&word.lower);
    is_small || message.name_at(word).is_some()
}
