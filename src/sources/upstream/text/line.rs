//! One line of text from outside, as a type: a record that holds it cannot hold what was not made safe.

use serde::{Deserialize, Deserializer};

use super::{readable::readable, title, title_from_html};

/// A title, a name, a sector: one line of at most 300 visible characters. Reading it from an answer makes it safe.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Line(String);

readable!(Line);

impl Line {
    /// The line that a text is, made safe.
    pub fn of(raw: &str) -> Self {
        Self(title(raw))
    }

    /// The line that a piece of HTML stands for, as feeds give titles.
    pub fn of_html(raw: &str) -> Self {
        Self(title_from_html(raw))
    }
}

impl<'de> Deserialize<'de> for Line {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|raw| Self::of(&raw))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_read_from_an_answer_is_one_line_without_what_nobody_sees() {
        let raw = format!("Banks\u{202e}\n\u{e0041}<b>\u{200b}{}", "x".repeat(1_000));
        let line: Line = serde_json::from_value(json!(raw)).unwrap();
        assert!(line.starts_with("Banks ") && line.chars().count() == 300, "{line}");
        assert!(!line.contains(['\u{202e}', '\n', '\u{200b}', '\u{e0041}']), "{line}");
    }
}
