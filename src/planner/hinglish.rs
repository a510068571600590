//! The Hindi words in Latin letters by which messages are read: `hinglish.toml`, parsed once.
//!
//! A message is read with the English words in their place, so that everything behind it has one language. A word that
//! English or a tool has too is never one of them. Not here: words of a domain, such as those for a price.

use std::sync::LazyLock;

use foldhash::HashMap;
use serde::Deserialize;

use crate::english::{ByForm, WordSet};

static HINGLISH: LazyLock<Hinglish> =
    LazyLock::new(|| toml::from_str(include_str!("hinglish.toml")).expect("a test reads it"));

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Hinglish {
    meanings: ByForm<String>,
    /// The English words for two Hindi ones side by side, by these.
    phrases: HashMap<String, String>,
    /// Verbs behind the verb of an order, which add nothing to it.
    auxiliaries: WordSet,
}

/// The English words for a Hindi one, in small letters.
pub(crate) fn english_for(word: &str) -> Option<&'static str> {
    HINGLISH.meanings.get(word).map(String::as_str)
}

/// The English words for two Hindi ones side by side, in small letters.
pub(crate) fn english_for_two(one: &str, other: &str) -> Option<&'static str> {
    HINGLISH.phrases.get(&format!("{one} {other}")).map(String::as_str)
}

/// Whether a word, in small letters, stands behind the verb of an order and adds nothing to it.
pub(crate) fn is_auxiliary(word: &str) -> bool {
    HINGLISH.auxiliaries.has(word)
}

/// Every Hindi word.
pub(crate) fn words() -> impl Iterator<Item = &'static str> {
    HINGLISH.meanings.forms()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::english::english;

    #[test]
    fn the_file_of_words_is_read_and_has_no_english_word() {
        assert_eq!(english_for("kitna"), Some("how much"));
        assert_eq!(english_for("much"), None);
        assert_eq!(english_for_two("mere", "paas"), Some("i have"));
        let shadowed: Vec<_> = words().filter(|word| english().stop.has(word)).collect();
        assert!(shadowed.is_empty(), "English comes first, so these never count: {shadowed:?}");
    }
}
