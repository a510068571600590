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

    /// Whether some name matches both.
    pub fn overlaps(&self, other: &Self) -> bool {
        // By row of the one pattern: which ends of the other one can stand beside it.
        let (one, other) = (self.0.as_bytes(), other.0.as_bytes());
        let mut row = vec![false; other.len() + 1];
        row[0] = true;
        spread(&mut row, other);
        for &byte in one {
            let before = row.clone();
            for at in 0..=other.len() {
                row[at] = match (byte, at.checked_sub(1).map(|left| other[left])) {
                    (b'*', _) => before[at] || (at > 0 && row[at - 1]),
                    (_, None) => false,
                    (_, Some(b'*')) => before[at] || row[at - 1],
                    (_, Some(its)) => byte == its && before[at - 1],
                };
            }
        }
        row[other.len()]
    }

    pub fn matches(&self, name: &str) -> bool {
        if self.is_everything() {
            return true;
        }
        let Some((prefix, rest)) = self.0.split_once('*') else { return self.0 == name };
        let Some(mut name) = name.strip_prefix(prefix) else { return false };
        let (pieces, suffix) =
            rest.rsplit_once('*').map_or((None, rest), |(pieces, last)| (Some(pieces), last));
        for piece in pieces.into_iter().flat_map(|pieces| pieces.split('*')) {
            let Some(at) = name.find(piece) else { return false };
            name = &name[at + piece.len()..];
        }
        name.ends_with(suffix)
    }
}

/// A star at the beginning stands for nothing too.
fn spread(row: &mut [bool], pattern: &[u8]) {
    for at in 1..row.len() {
        row[at] = pattern[at - 1] == b'*' && row[at - 1];
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
    fn two_patterns_overlap_where_a_name_matches_both() {
        let read = |text: &str| ToolPattern::try_from(text.to_owned()).unwrap();
        let texts = ["*", "a*", "*a", "ab", "a*b", "b*", "*b*", "abab", "**a", "a*ba", "bb"];
        // Every name of up to six letters, which is long enough for these.
        let names = (0..=6_u32).flat_map(|length| {
            (0..1_u32 << length).map(move |bits| {
                (0..length).map(|at| if bits >> at & 1 == 1 { 'a' } else { 'b' }).collect::<String>()
            })
        });
        let names: Vec<_> = names.collect();
        for (one, other) in texts.iter().flat_map(|one| texts.iter().map(move |other| (*one, *other))) {
            let (left, right) = (read(one), read(other));
            let expected = names.iter().any(|name| left.matches(name) && right.matches(name));
            assert_eq!(left.overlaps(&right), expected, "{one} {other}");
        }
    }

    #[test]
    fn a_pattern_is_of_the_characters_of_names() {
        for bad in ["", "Get_*", "get-*", "get ?"] {
            assert!(ToolPattern::try_from(bad.to_owned()).is_err(), "{bad:?}");
        }
    }
}
