//! The parts of a JSON text that match a query: values that are short enough to be read at once.

use std::{borrow::Cow, iter};

use super::{
    part::{Part, offset_of, tokens_as_member},
    pointers::{Children, join},
};
use crate::proto::v1::ResultPassage;
use toolwire_contract::ToolError;
use toolwire_state::workspace::passages::rank_passages;

/// Maximum bytes of a passage.
const MAX_BYTES: usize = 800;
/// Maximum levels of lists and objects that are looked into, so that the work is linear in the text.
const MAX_LEVELS: usize = 64;
/// Maximum number of passages in an answer.
const MAX_PASSAGES: usize = 20;
/// Estimated tokens of a passage without its text.
const AROUND: u64 = 24;

/// A value, or a piece of a long text.
#[derive(Debug, PartialEq, Eq)]
struct Passage<'a> {
    pointer: String,
    text: &'a str,
}

/// Adds the passages that match best, as many as have this many tokens, and one at least. Returns whether none has all
/// of the words.
pub(super) fn search(
    whole: &str,
    query: &str,
    most: u64,
    found: &mut Vec<ResultPassage>,
) -> Result<bool, ToolError> {
    let passages = passages(whole);
    let ranked = rank_passages(query, passages.iter().map(Passage::words))?;
    let mut left = most;
    for place in ranked.places.into_iter().take(MAX_PASSAGES) {
        let Passage { pointer, text } = &passages[place];
        let tokens = AROUND + tokens_as_member(text);
        if tokens > left && !found.is_empty() {
            break;
        }
        left = left.saturating_sub(tokens);
        let offset = offset_of(whole, Part::of(whole, text).begin);
        found.push(ResultPassage { pointer: pointer.clone(), offset, content: (*text).to_owned() });
    }
    Ok(ranked.any_word)
}

impl Passage<'_> {
    /// The words by which it is found: those of its names too.
    fn words(&self) -> String {
        let text = if self.text.contains('\\') {
            // Otherwise the `n` of a line break would be a letter of the next word.
            Cow::from(self.text.replace("\\n", " ").replace("\\r", " ").replace("\\t", " "))
        } else {
            Cow::from(self.text)
        };
        format!("{} {text}", self.pointer)
    }
}

/// All of the text but names and punctuation, in its order.
fn passages(whole: &str) -> Vec<Passage<'_>> {
    let mut passages = Vec::new();
    let mut open = vec![(String::new(), whole, 0)];
    while let Some((pointer, value, level)) = open.pop() {
        let is_short = value.len() <= MAX_BYTES || level == MAX_LEVELS;
        let mut children: Vec<_> = match if is_short { Children::None } else { Children::of(value) } {
            Children::None => {
                passages.extend(pieces(value).map(|text| Passage { pointer: pointer.clone(), text }));
                continue;
            }
            Children::Members(members) => members
                .into_iter()
                .map(|(name, value)| (join(&pointer, &name), value.get(), level + 1))
                .collect(),
            Children::Elements(elements) => {
                let named = (0..).zip(elements);
                named
                    .map(|(at, value): (usize, _)| (format!("{pointer}/{at}"), value.get(), level + 1))
                    .collect()
            }
        };
        children.reverse();
        open.append(&mut children);
    }
    passages
}

/// A text in pieces that are short enough, each up to a space if it has one.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    iter::from_fn(move || {
        let end = if rest.len() <= MAX_BYTES {
            rest.len()
        } else {
            let end = rest.floor_char_boundary(MAX_BYTES);
            rest[..end].rfind(' ').map_or(end, |space| space + 1)
        };
        let (piece, after) = rest.split_at(end);
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn found(whole: &Value, query: &str, most: u64) -> Vec<(String, String)> {
        let (text, mut found) = (whole.to_string(), Vec::new());
        search(&text, query, most, &mut found).unwrap();
        let characters: Vec<char> = text.chars().collect();
        for ResultPassage { offset, content, .. } in &found {
            let at: String = characters[*offset as usize..].iter().take(content.chars().count()).collect();
            assert_eq!(&at, content, "it stands where it is said to");
        }
        found.into_iter().map(|it| (it.pointer, it.content)).collect()
    }

    #[test]
    fn the_smallest_values_are_found_by_their_words_and_names() {
        let row =
            |at: usize| json!({"name": format!("naïve {at}"), "note": "nothing of interest ".repeat(3)});
        let mut rows: Vec<_> = (0..200).map(row).collect();
        rows[150]["note"] = "A rare comet\nwas seen".into();
        let whole = json!({"rows": rows, "margins": {"gross": 0.5, "text": "x ".repeat(500)}});
        let all = found(&whole, "comets seen", 2_000);
        assert_eq!((all.len(), all[0].0.as_str()), (1, "/rows/150"));
        assert!(all[0].1.contains("naïve 150"), "{all:?}");
        assert_eq!(found(&whole, "gross margin", 2_000)[0], ("/margins/gross".to_owned(), "0.5".to_owned()));
        assert_eq!(found(&whole, "naïve", 100_000).len(), MAX_PASSAGES);
        assert_eq!(found(&whole, "naïve", 1).len(), 1, "one at least");
        assert!(found(&whole, "zebra", 2_000).is_empty());
    }

    #[test]
    fn a_long_text_is_found_in_pieces() {
        let text = format!("{}comet {}", "é word ".repeat(1_000), "more ".repeat(1_000));
        let all = found(&json!({"a": [text]}), "comet", 2_000);
        assert_eq!((all.len(), all[0].0.as_str()), (1, "/a/0"));
        assert!(all[0].1.len() <= MAX_BYTES && all[0].1.contains("comet"), "{all:?}");
    }

    #[test]
    fn deep_and_unbroken_texts_are_read_to_their_ends() {
        let deep = format!("{}1{}", "[".repeat(5_000), "]".repeat(5_000));
        assert!(passages(&deep).iter().all(|passage| passage.text.len() <= MAX_BYTES));
        let long = format!("\"{}\"", "é".repeat(5_000));
        let read: String = passages(&long).iter().map(|passage| passage.text).collect();
        assert_eq!(read, long);
    }
}
