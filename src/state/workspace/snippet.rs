//! Snippets of search hits: an excerpt of the text around a match, or else the summary or description.

use super::{WorkspaceHandle, index, mime, query::Phrase, terms, utf8};
use crate::documents::Document;
use toolwire_base::offload;
use toolwire_contract::DocumentRefusal;

const MAX_CHARS: usize = 200;

/// Maximum bytes before the first match.
const MAX_BYTES_BEFORE: usize = 60;

/// The snippet of a search hit; empty if the document cannot be read.
pub(super) async fn of(
    handle: &WorkspaceHandle,
    document: &Document,
    find: &[Phrase],
) -> Result<String, DocumentRefusal> {
    let metadata = [&document.content.summary, &document.description];
    let fallback = metadata.into_iter().find(|text| !text.is_empty()).cloned().unwrap_or_default();
    if !mime::is_text(&document.content.mime_type) {
        return Ok(truncate(&fallback));
    }
    let head = match handle.first(document, index::MAX_BYTES).await {
        Err(refusal @ DocumentRefusal::Unavailable { .. }) => return Err(refusal),
        head => head.unwrap_or_default(),
    };
    let stems: Vec<String> = find.iter().flatten().cloned().collect();
    let made = offload::if_large(head.len(), move || {
        utf8::prefix(&head).and_then(|text| around(text, &stems)).unwrap_or_else(|| truncate(&fallback))
    });
    Ok(handle.on_behalf(made).await)
}

/// The text around the first match.
fn around(text: &str, stems: &[String]) -> Option<String> {
    let (at, _) = terms::words(text).find(|(_, word)| stems.contains(&terms::term(word)))?;
    let begin = text.floor_char_boundary(at.saturating_sub(MAX_BYTES_BEFORE));
    // Begin at a word, unless this is one long word.
    let word = text[begin..at].find(char::is_whitespace).filter(|_| begin > 0);
    Some(truncate(&text[begin + word.unwrap_or_default()..]))
}

/// Collapses a text into one line of bounded length.
fn truncate(text: &str) -> String {
    let mut line = String::new();
    let mut length = 0;
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
        let space = usize::from(length > 0);
        let count = word.chars().count();
        if length + space + count > MAX_CHARS {
            if length == 0 {
                line.extend(word.chars().take(MAX_CHARS));
            }
            break;
        }
        line.push_str(&" "[..space]);
        line.push_str(word);
        length += space + count;
    }
    line
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_text_around_the_first_word_is_shown() {
        let text = format!("{}The quarterly revenues rose.\n\n{}", "word ".repeat(50), "more ".repeat(100));
        let found = around(&text, &["revenu".to_owned()]).unwrap();
        assert!(found.contains("The quarterly revenues rose. more") && found.starts_with("word"), "{found}");
        assert_eq!(around(&text, &["nothing".to_owned()]), None);
        assert_eq!(truncate("a\t b\u{0}\nc"), "a b c");
    }

    proptest! {
        #[test]
        fn a_snippet_is_one_line_of_at_most_200_characters(text in "(word|[ -~]|.|\n){0,500}") {
            let found = around(&text, &["word".to_owned()]).unwrap_or_else(|| truncate(&text));
            prop_assert!(found.chars().count() <= MAX_CHARS);
            prop_assert!(!found.chars().any(char::is_control));
        }
    }
}
