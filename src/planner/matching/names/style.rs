//! How a word is written, which tells a name from a word.

use crate::matching::words::Word;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// In capitals, among small letters, or behind a `$`.
    Code,
    /// With a capital where no sentence begins.
    Capital,
    /// With a capital where a sentence begins.
    First,
    Small,
}

impl Style {
    /// `has_small` tells whether the text has small letters at all.
    pub(super) fn of(text: &str, word: &Word, is_first: bool, has_small: bool) -> Self {
        let written = &text[word.begin..word.end];
        let capitals = written.chars().filter(|c| c.is_uppercase()).count();
        let is_code = capitals > 1 && !written.contains(|c: char| c.is_lowercase()) && has_small;
        match () {
            () if text[..word.begin].ends_with('$') || is_code => Self::Code,
            () if capitals > 0 && !is_first && !begins_sentence(text, word) && has_small => Self::Capital,
            () if capitals > 0 => Self::First,
            () => Self::Small,
        }
    }
}

fn begins_sentence(text: &str, word: &Word) -> bool {
    text[..word.begin].trim_end().ends_with(['.', '?', '!', ':', ';', '"'])
}
