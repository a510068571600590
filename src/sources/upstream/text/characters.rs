//! Drops characters that are invisible or turn the direction of their neighbours; the rest is put in NFC.

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

use toolwire_base::words::{MAX_MARKS, is_hidden};

/// The visible characters of a text, in NFC.
pub(super) fn visible(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let mut marks = 0;
    text.chars()
        .map(to_space)
        .filter(|c| !is_hidden(*c))
        .nfc()
        .filter(|c| {
            marks = if is_combining_mark(*c) { marks + 1 } else { 0 };
            marks <= MAX_MARKS
        })
        .collect()
}

/// A character that ends a line is a newline, one that only looks like a space is a space.
const fn to_space(c: char) -> char {
    match c {
        '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => '\n',
        '\u{b}' | '\u{c}' | '\u{2800}' => ' ',
        c => c,
    }
}
