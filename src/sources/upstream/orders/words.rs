//! The words of a sentence as they are read: without case, accents, look-alikes and what joins letters.

use unicode_normalization::char::is_combining_mark;

use crate::upstream::text::read_as;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    /// Whether a sign, or nothing, stands before it.
    pub(super) begins_clause: bool,
}

/// Words behind which a verb is an imperative.
#[rustfmt::skip]
const STARTERS: [&str; 16] = [
    "please", "now", "then", "and", "also", "just", "kindly", "always", "never", "immediately", "you", "only", "so",
    "bitte", "jetzt", "und",
];
/// The same, where the reader is addressed.
const MODALS: [&str; 4] = ["must", "should", "will", "shall"];
/// Words that address the reader.
const TOLD: [&str; 7] = ["you", "u", "everyone", "everybody", "all", "ai", "assistant"];

pub(super) fn words(sentence: &str) -> Vec<Word> {
    let chars: Vec<char> = sentence.chars().collect();
    let mut words = Vec::new();
    let (mut text, mut begins_clause) = (String::new(), true);
    for (at, c) in chars.iter().enumerate() {
        match read_as(*c) {
            Some(letter) => text.push(letter),
            None if *c == '_' => text.push('_'),
            // An apostrophe and what joins letters do not end a word.
            None if matches!(c, '\'' | '’') || is_combining_mark(*c) => {}
            None => {
                if push(&mut words, &mut text, begins_clause) {
                    begins_clause = false;
                }
                begins_clause |= !c.is_whitespace() && !is_hyphen(&chars, at);
            }
        }
    }
    push(&mut words, &mut text, begins_clause);
    words
}

/// Adds what was gathered, if it is a word. Underscores around one are decoration.
fn push(words: &mut Vec<Word>, gathered: &mut String, begins_clause: bool) -> bool {
    let text = std::mem::take(gathered);
    let text = text.trim_matches('_');
    if text.is_empty() {
        return false;
    }
    words.push(Word { text: text.to_owned(), begins_clause });
    true
}

/// Whether the verb at a place can only be an imperative.
pub(super) fn is_imperative(words: &[Word], at: usize) -> bool {
    let before = |by: usize| at.checked_sub(by).map(|at| words[at].text.as_str());
    let Some(word) = before(1) else { return true };
    if words[at].begins_clause || STARTERS.contains(&word) {
        return true;
    }
    MODALS.contains(&word) && before(2).is_some_and(|who| TOLD.contains(&who))
}

fn is_hyphen(chars: &[char], at: usize) -> bool {
    let is_letter = |at: Option<usize>| at.and_then(|at| chars.get(at)).is_some_and(|c| c.is_alphanumeric());
    chars[at] == '-' && is_letter(at.checked_sub(1)) && is_letter(Some(at + 1))
}
