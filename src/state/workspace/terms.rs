//! Normalisation of words for search: lower case, without accents, stemmed if they are English.
//!
//! A term consists of letters, digits and combining marks only, so that it is always one token of an index.

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

/// Maximum bytes of a term; longer ones are truncated.
pub const MAX_BYTES: usize = 64;

/// Words that occur in most texts and carry no topic.
const STOP_WORDS: &str = " a about after all also an and any are as at be because been before but by can could did do \
    does for from had has have he her here him his how i if in into is it its just may me more most my no not now of \
    on one only or other our out over she should so some such than that the their them then there these they this \
    those to too under up us very was we were what when where which while who whose why will with would you your ";

/// The words of a text, each with its byte offset. A word is a run of letters, digits and combining marks within a word
/// of UAX #29; in Chinese and Japanese it is one character.
pub fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    // In ASCII, UAX #29 splits no run of letters and digits, and it is slow.
    let (ascii, other) = if text.is_ascii() { (text, "") } else { ("", text) };
    let words = other.unicode_word_indices().flat_map(|(begin, word)| runs(word, begin));
    runs(ascii, 0).chain(words)
}

/// The runs of letters, digits and combining marks, with offsets that start at `begin`.
fn runs(text: &str, begin: usize) -> impl Iterator<Item = (usize, &str)> {
    let is_gap = |c: char| !c.is_alphanumeric() && !is_accent(c);
    let parts = text.split(is_gap).filter(|part| !part.is_empty());
    parts.map(move |part| (begin + (part.as_ptr() as usize - text.as_ptr() as usize), part))
}

pub fn term(word: &str) -> String {
    let plain: String = if word.is_ascii() {
        // ASCII needs no Unicode normalisation.
        word.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
    } else {
        word.nfkd().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).nfc().collect()
    };
    let is_english = plain.len() <= MAX_BYTES && plain.bytes().all(|byte| byte.is_ascii_lowercase());
    let mut term =
        if is_english { Stemmer::create(Algorithm::English).stem(&plain).into_owned() } else { plain };
    term.truncate(term.floor_char_boundary(MAX_BYTES));
    term
}

pub fn terms(text: &str) -> impl Iterator<Item = String> {
    words(text).map(|(_, word)| term(word)).filter(|term| !term.is_empty())
}

pub fn is_stop_word(word: &str) -> bool {
    let word = word.to_lowercase();
    !word.contains(' ') && STOP_WORDS.contains(&format!(" {word} "))
}

/// Whether a character is a combining accent, as in the decomposed form of `é`.
fn is_accent(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(text: &str) -> Vec<String> {
        terms(text).collect()
    }

    #[test]
    fn words_are_found_by_what_they_have_in_common() {
        assert_eq!(of("Revenues by region"), ["revenu", "by", "region"]);
        assert_eq!(of("CAFÉ cafe\u{301} ﬁle"), ["cafe", "cafe", "file"]);
        assert_eq!(
            of("example.com, it's snake_case 3.14"),
            ["exampl", "com", "it", "s", "snake", "case", "3", "14"]
        );
        assert_eq!(of("日本語 Ελλάδα"), ["日", "本", "語", "ελλαδα"]);
        assert_eq!(of("— \" ( ) * ^"), Vec::<String>::new());
    }

    #[test]
    fn words_stand_where_they_are_said_to() {
        let text = "don't (example.com)";
        let found: Vec<_> = words(text).collect();
        assert_eq!(found, [(0, "don"), (4, "t"), (7, "example"), (15, "com")]);
    }

    #[test]
    fn stop_words_are_few() {
        assert!(is_stop_word("The") && is_stop_word("would"));
        assert!(!is_stop_word("revenue") && !is_stop_word("a about") && !is_stop_word(""));
    }

    proptest! {
        #[test]
        fn terms_are_one_token_each(text in ".{0,120}") {
            for (begin, word) in words(&text) {
                prop_assert_eq!(&text[begin..begin + word.len()], word);
            }
            for term in terms(&text) {
                prop_assert!(term.len() <= MAX_BYTES && term.chars().all(char::is_alphanumeric), "{}", term);
            }
        }

        #[test]
        fn ascii_is_read_as_the_annex_says(text in "[ -~]{0,120}") {
            let annex = text.unicode_word_indices().flat_map(|(begin, word)| runs(word, begin));
            prop_assert!(words(&text).eq(annex));
        }

        #[test]
        fn stemming_takes_whatever_looks_english(word in "[a-z]{1,70}") {
            prop_assert!(!term(&word).is_empty());
        }
    }
}
