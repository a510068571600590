//! Patterns of tool names: `*` stands for any characters, everything else for itself.

use crate::{raw_value::RawValue, value::Value};

/// A pattern of tool names, such as `get_*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolPattern(String);

/// A text is not a valid pattern of tool names.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a tool name or a pattern such as get_*, of a-z, 0-9, _ and *, but found {found:?}")]
pub struct InvalidPattern {
    found: String,
}

impl ToolPattern {
    /// The pattern that every name matches.
    pub fn everything() -> Vec<Self> {
        vec![Self("*".to_owned())]
    }

    /// Whether every name matches.
    pub fn is_everything(&self) -> bool {
        self.0 == "*"
    }

    /// The pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn matches(&self, name: &str) -> bool {
        let Some((prefix, rest)) = self.0.split_once('*') else { return self.0 == name };
        let Some(mut name) = name.strip_prefix(prefix) else { return false };
        let mut pieces: Vec<_> = rest.split('*').collect();
        let suffix = pieces.pop().unwrap_or_default();
        for piece in pieces {
            let Some(at) = name.find(piece) else { return false };
            name = &name[at + piece.len()..];
        }
        name.ends_with(suffix)
    }
}

impl Value for ToolPattern {
    fn read(found: &RawValue) -> Result<Self, String> {
        String::read(found)?.try_into().map_err(|error: InvalidPattern| error.to_string())
    }

    fn to_toml(&self) -> String {
        self.0.to_toml()
    }
}

impl TryFrom<String> for ToolPattern {
    type Error = InvalidPattern;

    fn try_from(text: String) -> Result<Self, InvalidPattern> {
        let is_allowed = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'*');
        if text.is_empty() || !text.bytes().all(is_allowed) {
            return Err(InvalidPattern { found: text.chars().take(64).collect() });
        }
        Ok(Self(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_characters() {
        let matches = |pattern: &str, name| ToolPattern::try_from(pattern.to_owned()).unwrap().matches(name);
        for (pattern, name) in [
            ("*", "get_quotes"),
            ("get_*", "get_quotes"),
            ("*_quotes", "get_quotes"),
            ("g*t*s", "get_quotes"),
            ("get_quotes", "get_quotes"),
            ("get_*_of_*", "get_price_of_x"),
            ("a*a", "aa"),
            ("**", ""),
        ] {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [
            ("get_", "get_quotes"),
            ("*_quote", "get_quotes"),
            ("quotes", "get_quotes"),
            ("get_*_x", "get_x"),
            ("a*a", "a"),
        ] {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn a_pattern_is_of_the_characters_of_names() {
        for bad in ["", "Get_*", "get-*", "get ?"] {
            assert!(ToolPattern::try_from(bad.to_owned()).is_err(), "{bad:?}");
        }
    }
}
