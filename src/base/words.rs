//! Texts for people, put together the same way everywhere: a count with its noun, one line, a word for a shell.

use std::fmt::Display;

use unicode_normalization::char::is_combining_mark;

/// Maximum number of combining marks on one character; more of them pile up over neighbouring lines.
pub const MAX_MARKS: usize = 8;

/// A count with its noun: `1 share`, `2 shares`.
pub fn counted<N: Copy + Display + PartialEq + From<u8>>(count: N, one: &str, many: &str) -> String {
    let noun = if count == N::from(1) { one } else { many };
    format!("{count} {noun}")
}

/// A text without the byte order mark that some editors and shells put in front of it.
pub fn without_bom(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// The same of the bytes of a text.
pub fn bytes_without_bom(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes)
}

/// A text on one line, with single spaces within and no control characters.
pub fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    for word in words {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// Escapes characters that are invisible, reorder others or look like a plain space, such as `\u{202e}` and `\n`, and
/// combining marks beyond [`MAX_MARKS`].
pub fn visible(text: &str) -> String {
    let mut marks = 0;
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        marks = if is_combining_mark(c) { marks + 1 } else { 0 };
        let is_blank = c != ' ' && (c.is_whitespace() || c == '\u{2800}');
        if let '\n' | '\t' = c {
            shown.extend(c.escape_default());
        } else if is_blank || c.is_control() || is_hidden(c) || marks > MAX_MARKS {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Whether a reader would not see a character: control, format, bidi, zero-width, tag, filler and private characters,
/// variation selectors, interlinear annotation, and noncharacters.
pub const fn is_hidden(c: char) -> bool {
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

/// A text as one word of a shell: in single quotes if a shell would read it otherwise.
pub fn shell(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "=_-.,:/@%+".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_is_not_many() {
        let of = |count: u8| counted(count, "entry", "entries");
        assert_eq!([of(0), of(1), of(2)], ["0 entries", "1 entry", "2 entries"]);
    }

    #[test]
    fn a_line_has_no_second_one() {
        assert_eq!(one_line("  a\r\n\tb\u{7}c\u{a0} d "), "a b c d");
        assert_eq!(one_line(" \n"), "");
    }

    #[test]
    fn what_a_person_would_not_see_or_would_take_for_a_space_is_written_out() {
        assert_eq!(visible("Zoë pays ₹5 to 日本"), "Zoë pays ₹5 to 日本");
        let unseen = "\u{34f}\u{115f}\u{3164}\u{180b}\u{200b}\u{202e}\u{fe0f}\u{e0100}\u{e000}\u{2028}\u{1b}";
        let blank = "\u{a0}\u{1680}\u{2000}\u{202f}\u{205f}\u{2800}\u{3000}";
        for c in unseen.chars().chain(blank.chars()) {
            assert_eq!(visible(&format!("a{c}b")), format!("a{}b", c.escape_unicode()));
        }
        assert_eq!(visible("a\n\tb"), "a\\n\\tb");
        let piled = visible(&format!("a{}", "\u{301}".repeat(10)));
        assert_eq!(piled.matches("\\u{301}").count(), 2, "{piled}");
    }

    #[test]
    fn a_shell_reads_back_what_was_meant() {
        for (text, expected) in [
            ("AAPL", "AAPL"),
            ("topic=roth", "topic=roth"),
            ("", "''"),
            ("a b", "'a b'"),
            ("it's", r"'it'\''s'"),
            ("$HOME", "'$HOME'"),
        ] {
            assert_eq!(shell(text), expected);
        }
    }
}
