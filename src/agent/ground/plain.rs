//! A text from outside as one plain line: how answers quote it, and so how its numbers are read too.

use std::borrow::Cow;

use toolwire_base::words::is_hidden;

/// A text on one line, with single spaces and without invisible characters.
pub fn plain(text: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c == ' ' || !(c.is_whitespace() || c.is_control() || is_hidden(c));
    if text.chars().all(is_plain) && !text.contains("  ") && text.trim().len() == text.len() {
        return Cow::Borrowed(text);
    }
    let mut line = String::with_capacity(text.len());
    let mut is_gap = false;
    for c in text.chars() {
        // What is not seen leaves no gap, unless two numbers would become one.
        if is_hidden(c) && !c.is_control() && !line.ends_with(|last: char| last.is_numeric()) {
            continue;
        }
        if c.is_whitespace() || c.is_control() || is_hidden(c) {
            is_gap = true;
            continue;
        }
        if std::mem::take(&mut is_gap) && !line.is_empty() {
            line.push(' ');
        }
        line.push(c);
    }
    Cow::Owned(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_line_has_nothing_that_is_not_seen() {
        assert_eq!(plain(" a\n\tb\u{7}c\u{200b}d 1\u{200b}2\u{a0}% "), "a b cd 1 2 %");
        assert!(matches!(plain("a b"), Cow::Borrowed("a b")));
    }
}
