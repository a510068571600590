//! Text from outside in an answer: one plain line, cut, and nothing in it is Markdown.

use crate::ground::{escape, plain};

/// The longest quotation in an answer, in characters.
const LONGEST: usize = 400;

/// A text as an answer quotes it.
pub(crate) fn quote(text: &str) -> String {
    quote_within(text, LONGEST)
}

/// The same of a text that may be longer or is to be shorter.
pub(super) fn quote_within(text: &str, longest: usize) -> String {
    escape(&cut(&plain(text), longest))
}

/// A text of at most this many characters, cut between words. A number or a date is never split.
fn cut(text: &str, longest: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(longest) else { return text.to_owned() };
    let mut shown = text[..end].rsplit_once(' ').map_or("", |(words, _)| words);
    while let Some((words, last)) = shown.rsplit_once(' ')
        && belongs_to_number(last)
    {
        shown = words;
    }
    if belongs_to_number(shown) && !shown.contains(' ') {
        shown = "";
    }
    format!("{}…", shown.trim_end_matches(['.', ',', ';', ':', '…']))
}

/// Whether a word may be the beginning of a number or of a date.
fn belongs_to_number(word: &str) -> bool {
    let is_capital = word.starts_with(|c: char| c.is_ascii_uppercase());
    let is_month = is_capital && word.get(..3).is_some_and(|it| MONTHS.contains(&it));
    is_month || word.contains(char::is_numeric) || !word.contains(char::is_alphabetic)
}

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_it_is_markdown() {
        for (text, expected) in [
            ("a [b](c) ![d] **e** `f`", "a \\[b\\](c) \\!\\[d\\] \\*\\*e\\*\\* \\`f\\`"),
            ("# a\n- b | c", "\\# a - b \\| c"),
            ("<b> 1 < 2 > M&M & AT&T snake_case _x_", "\\<b> 1 < 2 > M\\&M & AT\\&T snake_case \\_x\\_"),
            ("12. a 1.5", "12\\. a 1.5"),
            ("1.5 is 5.", "1.5 is 5."),
        ] {
            assert_eq!(quote(text), expected);
        }
    }

    #[test]
    fn it_is_cut_between_words_and_never_within_a_number() {
        assert_eq!(cut("one two three", 9), "one two…");
        assert_eq!(cut("one 12 million and", 10), "one…");
        assert_eq!(cut("on January 15, 2026 it", 14), "on…");
        assert_eq!(cut("123456", 3), "…");
        assert_eq!(quote(&"word ".repeat(200)).chars().count(), 400);
    }
}
