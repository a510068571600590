//! Where the words of a query stand in a document: a piece of its text, or of what is said of it.

use super::{WorkspaceHandle, index, mime, query::Phrase, terms, utf8};
use crate::documents::Document;
use toolwire_base::offload;
use toolwire_contract::DocumentRefusal;

const LONGEST: usize = 200;

/// So many bytes before the first word that is found.
const BEFORE: usize = 60;

/// The snippet of a document that a search has found. What cannot be read has none.
pub(super) async fn of(
    handle: &WorkspaceHandle,
    document: &Document,
    find: &[Phrase],
) -> Result<String, DocumentRefusal> {
    let said = [&document.content.summary, &document.description];
    let instead = said.into_iter().find(|text| !text.is_empty()).cloned().unwrap_or_default();
    if !mime::is_text(&document.content.mime_type) {
        return Ok(cut(&instead));
    }
    let head = match handle.first(document, index::READ).await {
        Err(refusal @ DocumentRefusal::Unavailable { .. }) => return Err(refusal),
        head => head.unwrap_or_default(),
    };
    let stems: Vec<String> = find.iter().flatten().cloned().collect();
    let made = offload::if_large(head.len(), move || {
        utf8::prefix(&head).and_then(|text| around(text, &stems)).unwrap_or_else(|| cut(&instead))
    });
    Ok(handle.on_behalf(made).await)
}

/// The text around the first of the words.
fn around(text: &str, stems: &[String]) -> Option<String> {
    let (at, _) = terms::words(text).find(|(_, word)| stems.contains(&terms::term(word)))?;
    let begin = text.floor_char_boundary(at.saturating_sub(BEFORE));
    // At the beginning of a word, unless this is one long word.
    let word = text[begin..at].find(char::is_whitespace).filter(|_| begin > 0);
    Some(cut(&text[begin + word.unwrap_or_default()..]))
}

/// One line of bounded length.
fn cut(text: &str) -> String {
    let mut line = String::new();
    let mut length = 0;
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
        let space = usize::from(length > 0);
        let count = word.chars().count();
        if length + space + count > LONGEST {
            if length == 0 {
                line.extend(word.chars().take(LONGEST));
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
        assert_eq!(cut("a\t b\u{0}\nc"), "a b c");
    }

    proptest! {
        #[test]
        fn a_snippet_is_one_line_of_at_most_200_characters(text in "(word|[ -~]|.|\n){0,500}") {
            let found = around(&text, &["word".to_owned()]).unwrap_or_else(|| cut(&text));
            prop_assert!(found.chars().count() <= LONGEST);
            prop_assert!(!found.chars().any(char::is_control));
        }
    }
}
