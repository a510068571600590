//! Search queries: words, `"phrases"`, and `-exclusions`. No part of a query reaches the grammar of an index.

use super::terms::terms;

/// Maximum number of phrases; further ones are ignored.
pub const MAX_PHRASES: usize = 32;
/// Maximum bytes of a query; the rest is ignored.
pub const MAX_BYTES: usize = 4 * 1024;

/// Consecutive terms. A word is a phrase of one term, or of several, as in `example.com`.
pub type Phrase = Vec<String>;

/// A parsed query. Without phrases to find, it matches nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// Phrases that a document should contain.
    pub find: Vec<Phrase>,
    /// Phrases that a document must not contain.
    pub without: Vec<Phrase>,
}

impl Query {
    /// Parses a query. Every text is valid: characters other than letters and digits only separate words.
    pub fn parse(text: &str) -> Self {
        let mut query = Self::default();
        let mut rest = super::utf8::first(text, MAX_BYTES);
        while query.find.len() + query.without.len() < MAX_PHRASES {
            rest = rest.trim_start();
            if rest.is_empty() {
                break;
            }
            let (is_without, part) = rest.strip_prefix('-').map_or((false, rest), |part| (true, part));
            let (phrase, after) = next(part);
            rest = after;
            let phrase: Phrase = terms(phrase).collect();
            let list = if is_without { &mut query.without } else { &mut query.find };
            if !phrase.is_empty() && !list.contains(&phrase) {
                list.push(phrase);
            }
        }
        query
    }
}

/// The text up to the closing quote or the next space, and the rest.
fn next(text: &str) -> (&str, &str) {
    if let Some(quoted) = text.strip_prefix('"') {
        return quoted.split_once('"').unwrap_or((quoted, ""));
    }
    let end = text.find(|c: char| c.is_whitespace() || c == '"').unwrap_or(text.len());
    text.split_at(end)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> (String, String) {
        let join = |phrases: Vec<Phrase>| {
            phrases.iter().map(|phrase| phrase.join(" ")).collect::<Vec<_>>().join(" | ")
        };
        let query = Query::parse(text);
        (join(query.find), join(query.without))
    }

    #[test]
    fn words_phrases_and_what_is_left_out() {
        for (text, find, without) in [
            ("quarterly revenues", "quarter | revenu", ""),
            ("\"net profit\" -forecasts", "net profit", "forecast"),
            ("-\"first draft\" sales", "sale", "first draft"),
            ("example.com", "exampl com", ""),
            ("sales \"open quote", "sale | open quot", ""),
            ("sales Sales", "sale", ""),
            ("AND OR NEAR( col:x ^* '", "and | or | near | col x", ""),
            ("-- - \" \" !", "", ""),
            ("word\"a b\"", "word | a b", ""),
            ("", "", ""),
        ] {
            assert_eq!(read(text), (find.to_owned(), without.to_owned()), "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_text_is_a_query_within_bounds(text in "([ -~]|.){0,200}") {
            let query = Query::parse(&text);
            prop_assert!(query.find.len() + query.without.len() <= MAX_PHRASES);
            prop_assert!(query.find.iter().chain(&query.without).all(|phrase| !phrase.is_empty()));
            prop_assert_eq!(query, Query::parse(&text));
        }
    }
}
