//! The name of a tool: one form for every provider of models.

use std::{borrow::Borrow, fmt, ops::Deref, str::FromStr, sync::Arc};

/// Maximum length of a name, in characters.
const MAX_LENGTH: usize = 64;

/// A tool's name: `^[a-z][a-z0-9_]{0,63}$`. Cloning it copies no text.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ToolName(Arc<str>);

/// A text is not a valid tool name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` does not match ^[a-z][a-z0-9_]{{0,63}}$")]
pub struct InvalidToolName(String);

impl ToolName {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ToolName {
    type Err = InvalidToolName;

    fn from_str(text: &str) -> Result<Self, InvalidToolName> {
        let is_of_name = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
        let begins_well = text.starts_with(|first: char| first.is_ascii_lowercase());
        if text.len() > MAX_LENGTH || !begins_well || !text.bytes().all(is_of_name) {
            return Err(InvalidToolName(text.to_owned()));
        }
        Ok(Self(text.into()))
    }
}

/// So that a map by name can be queried with unchecked text.
impl Borrow<str> for ToolName {
    fn borrow(&self) -> &str {
        self
    }
}

impl Deref for ToolName {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl From<ToolName> for String {
    fn from(name: ToolName) -> Self {
        name.0.as_ref().to_owned()
    }
}

impl fmt::Debug for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_begins_with_a_small_letter_and_has_at_most_64_characters() {
        for good in ["a", "get_quotes", "t2_", &"x".repeat(64)] {
            assert_eq!(good.parse::<ToolName>().expect(good).as_str(), good);
        }
        for bad in ["", "_a", "2a", "Get", "get-quotes", "gêt", "a b", &"x".repeat(65)] {
            let error = bad.parse::<ToolName>().expect_err(bad);
            assert_eq!(error.to_string(), format!("`{bad}` does not match ^[a-z][a-z0-9_]{{0,63}}$"));
        }
    }
}
