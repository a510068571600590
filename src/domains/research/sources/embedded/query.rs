//! Searches for words, as the forum, Reddit and Google understand them: phrases in quotes, `OR`, and operators.
//!
//! Whole words only, without stems: a symbol such as `LT` must not be found in "results".

/// A parsed search.
#[derive(Debug, Default)]
pub(super) struct Query {
    /// Alternatives, of which one must match. An alternative matches if all of its phrases are found.
    alternatives: Vec<Vec<String>>,
    /// `name:value`, such as `order:latest`.
    operators: Vec<(String, String)>,
}

/// Operators before a colon, which are not searched for.
const OPERATORS: [&str; 7] = ["order", "when", "in", "status", "category", "before", "after"];

impl Query {
    pub(super) fn parse(text: &str) -> Self {
        let mut query = Self::default();
        let mut alternative = Vec::new();
        for (at, part) in text.split('"').enumerate() {
            // Every second part stood between quotes.
            if at % 2 == 1 {
                alternative.push(part.trim().to_lowercase());
                continue;
            }
            for word in part.split([' ', '(', ')', '\t', '\n']) {
                match word.split_once(':') {
                    Some((name, value)) if OPERATORS.contains(&name) => {
                        query.operators.push((name.to_owned(), value.to_owned()));
                    }
                    _ if word == "OR" => query.alternatives.push(std::mem::take(&mut alternative)),
                    _ => alternative.push(word.to_lowercase()),
                }
            }
        }
        query.alternatives.push(alternative);
        for alternative in &mut query.alternatives {
            alternative.retain(|phrase| !phrase.is_empty());
        }
        query.alternatives.retain(|alternative| !alternative.is_empty());
        query
    }

    pub(super) fn operator(&self, name: &str) -> Option<&str> {
        self.operators.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Whether something found in the text satisfies it. A query without words matches nothing.
    pub(super) fn matches(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        self.alternatives.iter().any(|phrases| phrases.iter().all(|phrase| has_words(&text, phrase)))
    }
}

/// Whether a phrase stands in a text, not within a longer word. Both are in lower case.
fn has_words(text: &str, phrase: &str) -> bool {
    text.match_indices(phrase).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + phrase.len()..].chars().next();
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
}
