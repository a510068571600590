//! How texts for people are put together everywhere: a count with its noun, one line, a word for a shell.

use std::fmt::Display;

/// A count with its noun: `1 share`, `2 shares`.
pub fn counted<N: Copy + Display + PartialEq + From<u8>>(count: N, one: &str, many: &str) -> String {
    let noun = if count == N::from(1) { one } else { many };
    format!("{count} {noun}")
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

/// A text of which nothing hides or turns others around: control, bidi, zero-width and tag characters are written out,
/// such as `\u{202e}`.
pub fn visible(text: &str) -> String {
    let is_disguise = |c: char| {
        c.is_control()
            || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}')
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
            || matches!(c, '\u{e0000}'..='\u{e007f}' | '\u{fff9}'..='\u{fffb}')
    };
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_disguise(c) {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    shown
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
