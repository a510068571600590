//! Tokens of a text, by the vocabulary `o200k_base`: exact for one family of models, about a tenth off for others.
//!
//! The vocabulary is in the crate and unpacked at first use. Counting is linear in the text, whatever it contains; it
//! belongs off the threads that carry calls, and a stored text is counted once: its [`Length`] is stored with it.

mod vocabulary;

use toolwire_base::offload;

use self::vocabulary::Vocabulary;

/// Maximum size of a text that is counted, in bytes; a longer one is estimated.
pub const LONGEST: u64 = 16 * 1024 * 1024;

/// An upper bound on the average bytes of a token, which rules texts out without counting them.
const MAX_TOKEN_BYTES: u64 = 32;

/// Bytes per token, in an estimate.
const BYTES_EACH: u64 = 4;

/// Number of tokens that are shown of either end of a text that is too long.
pub const KEPT: u64 = 256;

/// Up to this many bytes are counted inline: a thread hop takes longer.
const SHORT: usize = 1024;

/// How long a text is for a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Length {
    pub tokens: u64,
    /// The bytes of its beginning: [`KEPT`] tokens, or all of it.
    pub first: usize,
    /// The bytes of its end: as many tokens, or 0 if its beginning is all of it.
    pub last: usize,
}

impl Length {
    pub fn of(text: &str) -> Self {
        let tokens = count(text);
        if tokens <= 2 * KEPT {
            return Self { tokens, first: text.len(), last: 0 };
        }
        Self { tokens, first: first(text, KEPT).len(), last: last(text, KEPT).len() }
    }

    /// The beginning and the end of the text that was counted, and the tokens that are missing between them. `None` if
    /// they are all of it, or it is not that text.
    pub fn ends(self, text: &str) -> Option<(&str, &str, u64)> {
        let begin = text.len().checked_sub(self.last).filter(|begin| self.first < *begin)?;
        let (first, last) = (text.get(..self.first)?, text.get(begin..)?);
        Some((first, last, self.tokens.saturating_sub(2 * KEPT).max(1)))
    }
}

/// Counts a text off the threads that carry calls, unless it is short.
pub async fn length(text: &str) -> Length {
    // Only the first caller waits for the vocabulary to load; later ones find it loaded.
    if text.len() <= SHORT && Vocabulary::is_unpacked() {
        return Length::of(text);
    }
    let text = text.to_owned();
    offload::if_large(usize::MAX, move || Length::of(&text)).await
}

/// The tokens of a text. An estimate where [`is_estimated`] says so.
pub fn count(text: &str) -> u64 {
    let size = text.len() as u64;
    if is_estimated(size) { estimate(size) } else { Vocabulary::get().count(text) as u64 }
}

/// Whether a text has at most this many tokens. It is not counted where its size decides: below one byte per token it
/// does, and beyond `MAX_TOKEN_BYTES` per token it is taken not to.
pub fn within(text: &str, most: u64) -> bool {
    let size = text.len() as u64;
    // No token has less than a byte.
    if size <= most || size > most.saturating_mul(MAX_TOKEN_BYTES) {
        return size <= most;
    }
    Vocabulary::get().within(text, whole(most))
}

/// Whether the tokens of a text of this many bytes are estimated.
pub const fn is_estimated(size: u64) -> bool {
    size > LONGEST
}

/// Estimates the tokens of a text from its size in bytes alone.
pub const fn estimate(size: u64) -> u64 {
    size / BYTES_EACH
}

/// The beginning of a text, at most this many tokens long.
pub fn first(text: &str, most: u64) -> &str {
    let ends: Vec<_> =
        text.char_indices().map(|(at, c)| at + c.len_utf8()).take(chars_examined(most)).collect();
    // Encoding the beginning alone gives the same tokens as encoding all of it, but for the last ones. Where it does
    // not, the count below is too high, and a binary search finds the end.
    let lengths = Vocabulary::get().lengths(&text[..ends.last().copied().unwrap_or_default()]);
    let bytes: usize = lengths.iter().take(whole(most)).sum();
    let end = ends.partition_point(|end| *end <= bytes).checked_sub(1).map_or(0, |at| ends[at]);
    if count(&text[..end]) <= most {
        return &text[..end];
    }
    let fitting = ends.partition_point(|end| count(&text[..*end]) <= most);
    &text[..fitting.checked_sub(1).map_or(0, |last| ends[last])]
}

/// The end of a text, at most this many tokens long.
pub fn last(text: &str, most: u64) -> &str {
    let begins: Vec<_> = text.char_indices().rev().map(|(at, _)| at).take(chars_examined(most)).collect();
    let lengths = Vocabulary::get().lengths(&text[begins.last().copied().unwrap_or(text.len())..]);
    let bytes: usize = lengths.iter().rev().take(whole(most)).sum();
    let earliest = text.len().saturating_sub(bytes);
    let begin = begins.partition_point(|begin| *begin >= earliest).checked_sub(1);
    let begin = begin.map_or(text.len(), |at| begins[at]);
    if count(&text[begin..]) <= most {
        return &text[begin..];
    }
    let fitting = begins.partition_point(|begin| count(&text[*begin..]) <= most);
    &text[fitting.checked_sub(1).map_or(text.len(), |last| begins[last])..]
}

/// Number of characters that are examined for this many tokens: a token of more than 16 is rare.
fn chars_examined(most: u64) -> usize {
    whole(most.saturating_mul(16))
}

fn whole(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_those_of_the_vocabulary() {
        for (text, expected) in
            [("", 0), ("hello world", 2), ("Toolwire", 2), ("日本語", 2), ("a".repeat(64).as_str(), 8)]
        {
            assert_eq!(count(text), expected, "{text}");
        }
    }

    #[test]
    fn a_text_is_within_a_bound_as_it_is_counted() {
        let text = "one two three, viele W\u{f6}rter \u{65e5}\u{672c}\u{8a9e} ".repeat(50);
        let tokens = count(&text);
        assert!(within(&text, tokens) && !within(&text, tokens - 1));
        assert!(within("", 0) && within("abc", 3) && !within("abc", 0));
        assert!(!within(&" ".repeat(100_000), 100));
    }

    #[test]
    fn a_text_that_is_too_long_is_estimated() {
        let length = usize::try_from(LONGEST).unwrap() + 4;
        assert_eq!(count(&" ".repeat(length)), LONGEST / 4 + 1);
    }

    #[test]
    fn the_ends_of_a_text_have_no_more_tokens_than_asked_for() {
        let text = "one two three, viele W\u{f6}rter \u{65e5}\u{672c}\u{8a9e} ".repeat(50);
        for most in [0, 1, 7, 100] {
            let (first, last) = (first(&text, most), last(&text, most));
            assert!(text.starts_with(first) && text.ends_with(last));
            assert!(count(first) <= most && count(last) <= most);
            assert!(most < 7 || (count(first) + 2 > most && count(last) + 2 > most));
        }
        assert_eq!((first("one two", 9), last("one two", 9)), ("one two", "one two"));
    }

    #[tokio::test]
    async fn a_length_is_the_same_wherever_it_is_counted_and_finds_the_ends_again() {
        for text in ["", "one two", &"word ".repeat(512), &"some more words ".repeat(400)] {
            let counted = length(text).await;
            assert_eq!(counted, Length::of(text));
            assert_eq!(counted.tokens, count(text));
            match counted.ends(text) {
                None => assert!(counted.tokens <= 2 * KEPT, "{counted:?}"),
                Some((first, last, left_out)) => {
                    assert_eq!((first, last), (super::first(text, KEPT), super::last(text, KEPT)));
                    assert_eq!(left_out, counted.tokens - 2 * KEPT);
                }
            }
        }
        let of_another = Length { tokens: 9_000, first: 1, last: 1 };
        assert_eq!(of_another.ends("é…"), None, "no character is cut in two");
        assert_eq!(of_another.ends(""), None);
    }

    #[test]
    fn text_without_a_gap_is_counted_too() {
        assert!(count(&"ab".repeat(50_000)) > 1_000);
    }
}
