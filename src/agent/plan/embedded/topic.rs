//! What a question of knowledge is about: its words without those that only ask.

use super::message::Message;

/// Words before what is asked about.
const BEFORE: &str = "a about an between d and are basics briefly can concept could define definition describe describes do does \
    did difference explain explanation for give how i idea in info information is it know learn like me mean meaning \
    means more of ok on overview please s should some teach tell term the there to understand want was we were what \
    whats when who why will would you your also work works so something quick introduction let hey hi need not again";

/// Words behind it.
const AFTER: &str = "about actually again basically exactly for function functions general generally in is it me mean \
    means now please really simple stand stands terms thanks to up us work works working words good do does";

/// The topic of a question, as it is written.
pub(in crate::agent::plan) fn topic(message: &Message<'_>) -> Option<String> {
    let has = |words: &str, word: &str| words.split_whitespace().any(|it| it == word);
    let is_before = |at: &usize| !has(BEFORE, &message.words[*at].lower);
    let is_after = |at: &usize| !has(AFTER, &message.words[*at].lower);
    let first = (0..message.words.len()).find(is_before)?;
    let last = (first..message.words.len()).rev().find(is_after)?;
    Some(message.text[message.words[first].begin..message.words[last].end].to_owned())
}
