//! The name of a toolset, by which a request narrows its user's tools.

use std::{fmt, str::FromStr, sync::Arc};

/// The longest name, in bytes.
const MAX_LENGTH: usize = 64;

/// The name of a toolset: of a-z, 0-9, _ and -. Cheap to clone.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ToolsetName(Arc<str>);

/// A text cannot be the name of a toolset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the name of a toolset is of a-z, 0-9, _ and -, at most {MAX_LENGTH} characters")]
pub struct InvalidToolsetName;

impl ToolsetName {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ToolsetName {
    type Err = InvalidToolsetName;

    fn from_str(text: &str) -> Result<Self, InvalidToolsetName> {
        let is_allowed = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-');
        if text.is_empty() || text.len() > MAX_LENGTH || !text.bytes().all(is_allowed) {
            return Err(InvalidToolsetName);
        }
        Ok(Self(text.into()))
    }
}

impl fmt::Display for ToolsetName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ToolsetName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_fits_into_a_path_as_it_is() {
        for good in ["shop", "a-b_c", "0", &"a".repeat(MAX_LENGTH)] {
            assert_eq!(good.parse::<ToolsetName>().map(|name| name.to_string()).as_deref(), Ok(good));
        }
        for bad in ["", "Shop", "a b", "a/b", "a.b", "ä", "a%20b", &"a".repeat(MAX_LENGTH + 1)] {
            assert_eq!(bad.parse::<ToolsetName>(), Err(InvalidToolsetName), "{bad:?}");
        }
    }
}
