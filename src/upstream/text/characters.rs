//! Characters that are seen: what is invisible, or turns the direction of its neighbours, goes; the rest is put in NFC.

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// So many combining marks may stand on one character; more of them pile up over the lines around.
const MAX_MARKS: usize = 8;

/// The visible characters of a text, in NFC.
pub(super) fn visible(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let mut marks = 0;
    text.chars()
        .map(spaced)
        .filter(|c| !is_hidden(*c))
        .nfc()
        .filter(|c| {
            marks = if is_combining_mark(*c) { marks + 1 } else { 0 };
            marks <= MAX_MARKS
        })
        .collect()
}

/// A character that ends a line is a newline, one that only looks like a space is a space.
const fn spaced(c: char) -> char {
    match c {
        '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => '\n',
        '\u{b}' | '\u{c}' | '\u{2800}' => ' ',
        c => c,
    }
}

/// Whether a reader would not see a character: control, format, bidi, zero-width, tag, filler and private characters,
/// variation selectors, interlinear annotation, and what is no character at all.
pub(super) const fn is_hidden(c: char) -> bool {
    matches!(c,
        '\0'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}' // control, but newline and tab
        | '\u{ad}' | '\u{34f}' // soft hyphen, grapheme joiner
        | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' // bidi
        | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' // Hangul fillers
        | '\u{17b4}' | '\u{17b5}' // Khmer vowels without a shape
        | '\u{180b}'..='\u{180f}' // Mongolian selectors and separator
        | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{feff}' // zero width
        | '\u{2028}' | '\u{2029}' // separators
        | '\u{e000}'..='\u{f8ff}' // private use
        | '\u{fdd0}'..='\u{fdef}' // no characters
        | '\u{fe00}'..='\u{fe0f}' // variation selectors
        | '\u{fff0}'..='\u{fffc}' | '\u{fffe}' | '\u{ffff}' // interlinear annotation, object replacement
        | '\u{13430}'..='\u{1345f}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' // format
        | '\u{e0000}'..='\u{10ffff}' // tags, variation selectors, private use
    ) || (c as u32) & 0xfffe == 0xfffe
}
