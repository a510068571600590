//! Values that a caller attaches to a call, for tools that read them.

use std::{collections::BTreeMap, sync::Arc};

/// Maximum number of entries.
const MAX_ENTRIES: usize = 32;
/// Maximum length of the key and the value of an entry together, in bytes.
const MAX_ENTRY_BYTES: usize = 1024;

/// Values for tools that read them: at most 32 entries of at most 1,024 bytes. Never a source of identity or
/// consent. Cloning it is cheap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attributes(Arc<BTreeMap<String, String>>);

/// There are too many attributes, or one is too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must have at most {MAX_ENTRIES} entries of at most {MAX_ENTRY_BYTES} bytes each")]
pub struct TooManyAttributes;

impl Attributes {
    /// The given entries.
    pub fn new(entries: impl IntoIterator<Item = (String, String)>) -> Result<Self, TooManyAttributes> {
        let entries: BTreeMap<_, _> = entries.into_iter().collect();
        let is_long = |(key, value): (&String, &String)| key.len() + value.len() > MAX_ENTRY_BYTES;
        if entries.len() > MAX_ENTRIES || entries.iter().any(is_long) {
            return Err(TooManyAttributes);
        }
        Ok(Self(Arc::new(entries)))
    }

    /// Every key with its value, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(entries: usize, length: usize) -> Result<Attributes, TooManyAttributes> {
        Attributes::new((0..entries).map(|n| (format!("{n:04}"), "x".repeat(length))))
    }

    #[test]
    fn their_number_and_length_are_bounded() {
        assert_eq!(
            of(MAX_ENTRIES, MAX_ENTRY_BYTES - 4).unwrap().get("0007"),
            Some(&*"x".repeat(MAX_ENTRY_BYTES - 4))
        );
        assert_eq!(of(MAX_ENTRIES + 1, 1), Err(TooManyAttributes));
        assert_eq!(of(1, MAX_ENTRY_BYTES - 3), Err(TooManyAttributes));
    }
}
