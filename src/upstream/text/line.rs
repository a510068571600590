//! One line of text from outside, as a type: a record that holds it cannot hold what was not made safe.

use std::{fmt, ops::Deref};

use serde::{Deserialize, Deserializer};

use super::title;

/// A name, a currency, a sector: one line of at most 300 visible characters. Reading it from an answer makes it safe.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Line(String);

impl Line {
    /// The line that a text is, made safe.
    pub fn of(raw: &str) -> Self {
        Self(title(raw))
    }
}

impl<'de> Deserialize<'de> for Line {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|raw| Self::of(&raw))
    }
}

impl Deref for Line {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl From<Line> for String {
    fn from(line: Line) -> Self {
        line.0
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
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
