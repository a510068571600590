//! What a question of knowledge is about: its words without those that only ask.

use std::ops::Range;

use super::message::{Message, is_asking};

/// Words before what is asked about.
const BEFORE: &str = "a about an between d and are basics briefly can concept could define definition describe describes do does \
    did difference explain explanation for give how i idea in info information is it know learn like me mean meaning \
    means more of ok on overview please s should some teach tell term the there to understand want was we were what \
    whats when who why will would you your also work works so something quick introduction let hey hi need not again \
    never understood ve heard hear people say says said told someone somebody read that point background s m beginner new \
    simple plain words terms english true deal with always wondered wondering curious question got get my son friend asks \
    asked by sense really actually any";

const AFTER: &str = "about actually again basically exactly for function functions general generally in is it me mean \
    means now please really simple stand stands terms thanks to up us work works working words good do does \
    true right idea thing things strategy actually smart worth way ways evidence based short detail details simply beginner \
    english plain language an any it s that all by me";

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
        (is_other || between.contains(',') && is_asking(&two[1].lower)).then_some(at + 1)
    })
}

fn within(message: &Message<'_>, sentence: Range<usize>) -> Option<String> {
    let has = |words: &str, word: &str| words.split_whitespace().any(|it| it == word);
    let is_before = |at: &usize| !has(BEFORE, &message.words[*at].lower);
    let is_after = |at: &usize| !has(AFTER, &message.words[*at].lower);
    let first = sentence.clone().find(is_before)?;
    let last = (first..sentence.end).rev().find(is_after)?;
    Some(message.text[message.words[first].begin..message.words[last].end].to_owned())
}
