//! Texts of others as a terminal may show them: nothing in them steers it, hides, or reorders what stands around it.

use std::{borrow::Cow, fmt::Write as _};

use toolwire_base::words::is_hidden;

/// A text of several lines. Line breaks, tabs and what joins the characters of a script or an emoji stay; what is
/// hidden beside these is escaped, such as `\u{202e}`.
pub(super) fn visible_text(text: &str) -> Cow<'_, str> {
    let joins = |c: char| matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}');
    escape(text, |c| is_hidden(c) && !joins(c), |shown, c| shown.extend(c.escape_default()))
}

/// The text of a JSON document. Hidden characters stand in its strings only, where their escapes mean the same.
pub(super) fn visible_json(json: &str) -> Cow<'_, str> {
    escape(json, is_hidden, |shown, c| {
        for unit in c.encode_utf16(&mut [0; 2]) {
            let _ = write!(shown, "\\u{unit:04x}");
        }
    })
}

fn escape(text: &str, is_escaped: impl Fn(char) -> bool, write: impl Fn(&mut String, char)) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_escaped(c) {
            write(&mut shown, c);
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_text_keeps_its_lines_and_steers_no_terminal() {
        assert!(matches!(visible_text("a\n\tb \u{a0}👩\u{200d}🔬"), Cow::Borrowed(_)));
        let hostile = "\u{1b}[2J\u{9b}31m\u{202e}\r\u{7f}\u{8}";
        assert_eq!(visible_text(hostile), r"\u{1b}[2J\u{9b}31m\u{202e}\r\u{7f}\u{8}");
    }

    #[test]
    fn json_without_hidden_characters_means_the_same() {
        let value = json!({"a\u{9b}": "b\u{202e}\u{e0041}c\n\u{1b}é"});
        for text in [value.to_string(), format!("{value:#}")] {
            let shown = visible_json(&text);
            assert!(!shown.chars().any(is_hidden) && shown.contains('é'), "{shown}");
            assert_eq!(serde_json::from_str::<Value>(&shown).unwrap(), value);
        }
    }
}
