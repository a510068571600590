//! The words of questions: what they are found by, which of them say nothing, and numbers that are written out.

use std::sync::LazyLock;

use foldhash::HashSet;

use crate::english::english;
use toolwire_state::workspace::terms;

/// The terms of fillers.
static FILLERS: LazyLock<HashSet<String>> = LazyLock::new(|| english().fillers.iter().map(stem).collect());

/// Maximum length, in words, of a message in which spellings are corrected.
pub(super) const MOST_CORRECTED: usize = 64;

/// Maximum length, in words, of a message that is answered: a longer one is not one question or order.
pub(crate) const MOST_ANSWERED: usize = 128;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Word {
    /// Where it begins, in bytes.
    pub(crate) begin: usize,
    pub(crate) end: usize,
    pub(crate) lower: String,
    /// What it is found by.
    pub(crate) term: String,
    /// Whether `lower` is not what is written, but the word that is meant.
    pub(crate) is_guess: bool,
}

impl Word {
    /// The same place in the text, read as another word.
    pub(crate) fn read_as(self, word: &str) -> Self {
        Self { lower: word.to_owned(), term: stem(word), is_guess: true, ..self }
    }

    /// Whether it stands in questions of every kind.
    pub(crate) fn is_stop(&self) -> bool {
        is_stop(&self.lower)
    }

    /// The number that it is, in digits or written out.
    pub(crate) fn number(&self) -> Option<u32> {
        self.lower.parse().ok().or_else(|| english().numbers.get(&self.lower).copied())
    }
}

/// The words of a text, in order.
pub(crate) fn words(text: &str) -> Vec<Word> {
    let word = |(begin, word): (usize, &str)| Word {
        begin,
        end: begin + word.len(),
        lower: word.to_lowercase(),
        term: stem(word),
        is_guess: false,
    };
    terms::words(text).map(word).filter(|word| !word.term.is_empty()).collect()
}

/// Whether a text is too long for one question or order.
pub(crate) fn is_too_long(text: &str) -> bool {
    terms::words(text).nth(MOST_ANSWERED).is_some()
}

/// What a word is found by: the stem of its verb, `ise` written as `ize`.
pub(crate) fn stem(word: &str) -> String {
    let lower = word.to_lowercase();
    if let Some(verb) = english().irregular.get(&lower) {
        return terms::term(verb);
    }
    let is_british = |ending: &&String| lower.len() > ending.len() + 3 && lower.ends_with(ending.as_str());
    match english().british_endings.words().iter().find(is_british) {
        Some(ending) => {
            let begin = &lower[..lower.len() - ending.len()];
            terms::term(&format!("{begin}{}", ending.replacen('s', "z", 1)))
        }
        None => terms::term(&lower),
    }
}

/// Whether a word, in small letters, says nothing of what a question is about.
pub(crate) fn is_stop(lower: &str) -> bool {
    english().stop.has(lower)
}

/// Whether a word, in small letters, stands in questions of every kind and names nothing.
pub fn is_stop_word(lower: &str) -> bool {
    is_stop(lower)
}

/// Whether a term changes nothing of what is asked.
pub(crate) fn is_filler(term: &str) -> bool {
    FILLERS.contains(term)
}

/// The terms of a phrase, stop words included.
pub(crate) fn phrase(text: &str) -> Vec<String> {
    words(text).into_iter().map(|word| word.term).collect()
}
