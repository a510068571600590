//! Identifiers and links from outside: exactly as they came, or not at all. Changed by a sign they would be others.

use serde::{Deserialize, Deserializer};

use super::{frame, readable::readable};
use toolwire_base::words::is_hidden;

/// The longest identifier, in bytes.
const MAX_IDENTIFIER: usize = 256;
/// The longest link, in bytes.
const MAX_LINK: usize = 2048;

/// A number, a name of a user, a slug: letters, digits and `-_.~%&`. Empty where something else stood.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identifier(String);

/// A link, whole or from a root, that is still to be resolved. Empty where something stood that leads nowhere: with
/// invisible characters, too long, or a look-alike of our framing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Link(String);

readable!(Identifier);
readable!(Link);

impl Identifier {
    /// The identifier, if it is one.
    pub fn of(raw: &str) -> Self {
        let is_part = |c: char| c.is_alphanumeric() || "-_.~%&".contains(c);
        Self(exactly(raw, MAX_IDENTIFIER, is_part))
    }
}

impl Link {
    /// The link, if it is one.
    pub fn of(raw: &str) -> Self {
        Self(exactly(raw, MAX_LINK, |_| true))
    }
}

fn exactly(raw: &str, max_bytes: usize, is_part: impl Fn(char) -> bool) -> String {
    let is_seen = |c: char| is_part(c) && !c.is_control() && !is_hidden(c);
    let is_exact = raw.len() <= max_bytes && raw.chars().all(is_seen) && frame::is_neutral(raw);
    if is_exact { raw.to_owned() } else { String::new() }
}

impl<'de> Deserialize<'de> for Identifier {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|raw| Self::of(&raw))
    }
}

impl<'de> Deserialize<'de> for Link {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|raw| Self::of(&raw))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_an_identifier_stays_as_it_is_and_nothing_else_does() {
        for exact in ["1qabc", "___the--bull___", "M&M", "%E0%A4%A8", "tata-elxsi.2", "naïve"] {
            assert_eq!(Identifier::of(exact), exact);
        }
        let long = "x".repeat(MAX_IDENTIFIER + 1);
        for other in ["a b", "a\u{200b}b", "a\u{202e}", "<b>", "a/b", "USER_GENERATED_CONTENT_BELOW", &long] {
            assert_eq!(Identifier::of(other), "", "{other:?}");
        }
    }

    #[test]
    fn what_may_lead_somewhere_stays_as_it_is() {
        for exact in ["/r/x/comments/a/why/?utm_source=share&context=3", "https://x.example/a---b?c=__d__"] {
            assert_eq!(Link::of(exact), exact);
        }
        let long = format!("https://x.example/{}", "x".repeat(MAX_LINK));
        for other in ["/r/a\nb", "https://x.example/\u{202e}", "/USER_GENERATED_CONTENT_BELOW", &long] {
            assert_eq!(Link::of(other), "", "{other:?}");
        }
    }
}
