//! Look-alikes of our own framing, taken apart, so that a text cannot pretend to end the frame it stands in.
//!
//! What frames text from outside is the words `USER_GENERATED_CONTENT_BELOW` and delimiters with a nonce. The nonce
//! cannot be guessed; here even the rest cannot be written: neither those words, nor a run of three signs, nor the
//! beginning of a tag. Nor do links and images of Markdown survive, by which a text could fetch something.

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// The letters of the marker, without what stands between them.
const MARKER: &str = "usergeneratedcontent";
/// What follows the marker where it is used as one.
const ENDINGS: [&str; 2] = ["below", "above"];
const REMOVED: &str = "[marker removed]";
/// Maximum run of the same sign: delimiters are made of more.
const MAX_RUN: usize = 2;

/// A letter of a text, as it would be read.
struct Letter {
    start: usize,
    end: usize,
    read_as: char,
}

/// Whether a text has no marker, whatever signs it has.
pub(super) fn is_neutral(text: &str) -> bool {
    without_markers(text) == text
}

/// The text without look-alikes.
pub(super) fn neutral(text: &str) -> String {
    without_tags(&without_runs(&without_markers(text)))
}

/// The text without look-alikes of the marker.
pub(super) fn without_markers(text: &str) -> String {
    let letters: Vec<_> = letters(text).collect();
    let mut out = String::with_capacity(text.len());
    let (mut copied, mut at) = (0, 0);
    while at + MARKER.len() <= letters.len() {
        match marker(text, &letters[at..]) {
            Some(len) => {
                out.push_str(&text[copied..letters[at].start]);
                out.push_str(REMOVED);
                at += len;
                copied = letters[at - 1].end;
            }
            None => at += 1,
        }
    }
    out.push_str(&text[copied..]);
    out
}

/// How many letters the marker has that a text begins with. People do write of user-generated content: only with
/// underscores, or followed by `below`, it is a marker.
fn marker(text: &str, letters: &[Letter]) -> Option<usize> {
    let begins = |at: usize, word: &str| {
        letters[at..].len() >= word.len()
            && letters[at..].iter().zip(word.chars()).all(|(l, c)| l.read_as == c)
    };
    if !begins(0, MARKER) {
        return None;
    }
    let len = MARKER.len();
    if let Some(ending) = ENDINGS.iter().find(|ending| begins(len, ending)) {
        return Some(len + ending.len());
    }
    let span = &text[letters[0].start..letters[len - 1].end];
    span.contains(['_', '＿', '‿']).then_some(len)
}

fn letters(text: &str) -> impl Iterator<Item = Letter> {
    text.char_indices()
        .filter_map(|(start, c)| Some(Letter { start, end: start + c.len_utf8(), read_as: read_as(c)? }))
}

/// The ASCII letter that a character looks like, else itself; `None` for anything but letters and digits.
pub(in crate::upstream) fn read_as(c: char) -> Option<char> {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric().then(|| c.to_ascii_lowercase());
    }
    let plain = std::iter::once(c).nfkd().next().unwrap_or(c);
    let lower = plain.to_lowercase().next().unwrap_or(plain);
    let look_alike = match lower {
        'а' | 'α' => 'a',
        'в' | 'β' => 'b',
        'с' | 'ϲ' => 'c',
        'ԁ' => 'd',
        'е' | 'ε' => 'e',
        'ԍ' | 'ɡ' => 'g',
        'ӏ' | 'ı' => 'l',
        'ո' | 'ν' | 'п' => 'n',
        'о' | 'ο' | 'օ' => 'o',
        'г' => 'r',
        'ѕ' => 's',
        'т' | 'τ' => 't',
        'ս' | 'υ' => 'u',
        'ԝ' | 'ω' => 'w',
        other => other,
    };
    look_alike.is_alphanumeric().then_some(look_alike)
}

fn without_runs(text: &str) -> String {
    let (mut last, mut run) = ('\0', 0);
    text.chars()
        .filter(|c| {
            run = if *c == last { run + 1 } else { 1 };
            last = *c;
            run <= MAX_RUN || !is_sign(*c)
        })
        .collect()
}

/// Whether a delimiter may be made of a character: neither of letters, nor of what ends a sentence.
fn is_sign(c: char) -> bool {
    !(c.is_alphanumeric() || c.is_whitespace() || is_combining_mark(c) || matches!(c, '.' | '!' | '?' | '…'))
}

/// A `<` that would begin a tag becomes `‹`; a Markdown link's text is parted from its address.
fn without_tags(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let next = chars.peek().copied().unwrap_or(' ');
        match c {
            '<' if next.is_alphabetic() || matches!(next, '/' | '!' | '?' | '|') => out.push('‹'),
            ']' if matches!(next, '(' | '[') => out.push_str("] "),
            c => out.push(c),
        }
    }
    out
}
