//! Forms of the words of an order.

use crate::{english::english, matching::words::Word};

/// A word with each letter once where it stands several times in a row.
pub(super) fn once(word: &str) -> String {
    let mut letters: Vec<_> = word.chars().collect();
    letters.dedup();
    letters.into_iter().collect()
}

/// Whether a word is a verb with an ending, `ing` or `ed`.
pub(super) fn is_form(verb: &str, word: &str, ending: &str) -> bool {
    let Some(begin) = word.strip_suffix(ending) else { return false };
    let doubled = || begin.strip_prefix(verb).is_some_and(|rest| verb.ends_with(rest) && rest.len() == 1);
    begin == verb || verb.strip_suffix('e') == Some(begin) || doubled()
}

/// The terms of the words that a phrase is compared by. The first one is as it is written: `watching Acme` orders
/// nothing.
pub(super) fn core<'a>(words: impl Iterator<Item = &'a Word>) -> Vec<String> {
    let english = english();
    let says = |word: &&Word| !english.function.has(&word.lower) && !english.optional.has(&word.lower);
    let form = |(at, word): (usize, &Word)| if at == 0 { &word.lower } else { &word.term }.clone();
    words.filter(says).enumerate().map(form).collect()
}
