//! What a question of knowledge is about: its words without those that only ask.

use std::ops::Range;

use super::message::{Message, is_asking};
use crate::english::english;

/// The topic of a question, as it is written: of the first sentence that has one.
pub(crate) fn topic(message: &Message<'_>) -> Option<String> {
    let mut begin = 0;
    let mut ends = sentences(message).chain([message.words.len()]);
    ends.find_map(|end| {
        let sentence = begin..end;
        begin = end;
        within(message, sentence)
    })
}

/// The places of words with which another sentence, or a question behind a comma, begins.
fn sentences(message: &Message<'_>) -> impl Iterator<Item = usize> {
    message.words.windows(2).enumerate().filter_map(|(at, two)| {
        let between = &message.text[two[0].end..two[1].begin];
        let is_other = between.contains(". ") || between.contains(['?', '!', ';', ':']);
        let next = if english().next.has(&two[1].lower) { at + 2 } else { at + 1 };
        let asks = || message.words.get(next).is_some_and(|word| is_asking(&word.lower));
        (is_other || between.contains(',') && asks()).then_some(at + 1)
    })
}

fn within(message: &Message<'_>, sentence: Range<usize>) -> Option<String> {
    let begins = |at: &usize| !english().before_topic.has(&message.words[*at].lower);
    let ends = |at: &usize| !english().after_topic.has(&message.words[*at].lower);
    let first = sentence.clone().find(begins)?;
    let last = (first..sentence.end).rev().find(ends)?;
    let words = &message.words[first..=last];
    // `Explain it` has its topic elsewhere.
    let english = english();
    let points = [&english.pronouns, &english.demonstratives, &english.pointing];
    if words.len() == 1 && points.iter().any(|all| all.has(&words[0].lower)) {
        return None;
    }
    if words.iter().any(|word| word.is_guess) {
        // As it is meant.
        return Some(words.iter().map(|word| word.lower.as_str()).collect::<Vec<_>>().join(" "));
    }
    Some(message.text[words[0].begin..message.words[last].end].to_owned())
}
