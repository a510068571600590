//! Tokens of a text, by the vocabulary `o200k_base`: exact for one family of models, about a tenth off for others.
//!
//! The vocabulary is in the crate and read at first use. Counting takes a time that grows with the text, whatever it
//! holds; it belongs off the threads that carry calls.

/// A longer text is not counted but estimated, in bytes.
pub const LONGEST: u64 = 16 * 1024 * 1024;

/// Bytes of a token, in an estimate.
const BYTES_EACH: u64 = 4;

/// The tokens of a text. An estimate where [`is_estimated`] says so.
pub fn count(text: &str) -> u64 {
    let size = text.len() as u64;
    if is_estimated(size) { estimate(size) } else { bpe_openai::o200k_base().count(text) as u64 }
}

/// Whether the tokens of a text of so many bytes are estimated.
pub const fn is_estimated(size: u64) -> bool {
    size > LONGEST
}

/// The tokens of a text of so many bytes, without looking at it.
pub const fn estimate(size: u64) -> u64 {
    size / BYTES_EACH
}

/// The beginning of a text, at most so many tokens long.
pub fn first(text: &str, most: u64) -> &str {
    let ends: Vec<_> = text.char_indices().map(|(at, c)| at + c.len_utf8()).take(looked_at(most)).collect();
    let fitting = ends.partition_point(|end| count(&text[..*end]) <= most);
    &text[..fitting.checked_sub(1).map_or(0, |last| ends[last])]
}

/// The end of a text, at most so many tokens long.
pub fn last(text: &str, most: u64) -> &str {
    let begins: Vec<_> = text.char_indices().rev().map(|(at, _)| at).take(looked_at(most)).collect();
    let fitting = begins.partition_point(|begin| count(&text[*begin..]) <= most);
    &text[fitting.checked_sub(1).map_or(text.len(), |last| begins[last])..]
}

/// How many characters are looked at for so many tokens: a token of more than 16 is rare.
fn looked_at(most: u64) -> usize {
    usize::try_from(most.saturating_mul(16)).unwrap_or(usize::MAX)
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

    #[test]
    fn text_without_a_gap_is_counted_too() {
        assert!(count(&"ab".repeat(50_000)) > 1_000);
    }
}
