//! Cuts a text, as it arrives, into sentences, items of lists and rows of tables. Not here: what is wrong with one.

use super::markdown::{Fence, Line};

/// A text that arrives in parts.
#[derive(Debug, Default)]
pub(super) struct Sentences {
    /// What has arrived and is not yet given out, and what has been given out of it.
    text: String,
    given: usize,
    /// How far the text has been looked at.
    seen: usize,
    /// Whether the present line has been cut already.
    is_cut: bool,
    /// Whether the present line is one that is not cut.
    is_whole: bool,
    marks: Marks,
    fence: Option<Fence>,
}

/// Signs of the present line that are open: a sentence does not end within them.
#[derive(Debug, Default)]
struct Marks {
    is_code: bool,
    brackets: usize,
    is_escaped: bool,
}

/// A part of a text, the white space behind it included.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) text: String,
    pub(super) begins_line: bool,
    /// Whether it is in a block of code, or one of the lines that bound it.
    pub(super) is_code: bool,
}

/// Words whose point ends no sentence.
const SHORT: &[&str] = &[
    "approx", "apr", "aug", "ca", "cf", "co", "corp", "dec", "dr", "e.g", "etc", "feb", "i.e", "inc", "jan",
    "ltd", "mr", "mrs", "ms", "nov", "oct", "rs", "sep", "sept", "st", "vs",
];

impl Sentences {
    /// Takes the next part of the text.
    pub(super) fn push(&mut self, delta: &str) {
        if self.given > 0 {
            self.text.drain(..self.given);
            self.seen -= self.given;
            self.given = 0;
        }
        self.text.push_str(delta);
    }

    pub(super) fn next(&mut self) -> Option<Part> {
        while let Some(c) = self.text[self.seen..].chars().next() {
            let at = self.seen;
            if c == '\n' {
                self.seen += 1;
                return Some(self.end_line());
            }
            self.seen += c.len_utf8();
            if self.ends_sentence(at, c) {
                return Some(self.give());
            }
            self.marks.see(c);
        }
        None
    }

    /// What is left at the end of the text.
    pub(super) fn rest(&mut self) -> Option<Part> {
        self.seen = self.text.len();
        (self.given < self.seen).then(|| self.end_line())
    }

    /// Forgets what has arrived and is not yet given out.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    fn end_line(&mut self) -> Part {
        let begun = self.fence;
        if !self.is_cut
            && let Line::Fence(fence) = Line::of(&self.text[self.given..self.seen])
        {
            self.fence = match begun {
                None => Some(fence),
                Some(begun) if fence.ends(begun) => None,
                begun => begun,
            };
        }
        let is_code = begun.is_some() || self.fence.is_some();
        let part = Part { is_code, ..self.give() };
        (self.is_cut, self.is_whole, self.marks) = (false, false, Marks::default());
        part
    }

    fn give(&mut self) -> Part {
        let text = self.text[self.given..self.seen].to_owned();
        let begins_line = !self.is_cut;
        self.given = self.seen;
        self.is_cut = true;
        Part { text, begins_line, is_code: false }
    }

    /// Whether a sentence ends before this white space.
    fn ends_sentence(&mut self, at: usize, c: char) -> bool {
        if !c.is_whitespace() || self.is_whole || self.marks.is_open() || self.fence.is_some() {
            return false;
        }
        let sentence = &self.text[self.given..at];
        // Without the marks that may close a sentence.
        let body = sentence.trim_end_matches(['"', '\'', ')', ']', '*', '_', '”', '’', '»']);
        let ends = match body.chars().next_back() {
            Some('!' | '?' | '…') => true,
            Some('.') => !is_short(body),
            _ => false,
        };
        if !ends || self.is_cut {
            return ends;
        }
        let line = Line::of(sentence);
        self.is_whole = matches!(line, Line::Row | Line::Fence(_)) || sentence.starts_with("```");
        // The ordinal of an item is not a sentence.
        let is_marker = matches!(line, Line::Item { marker, .. } if sentence.len() <= marker);
        !self.is_whole && !is_marker
    }
}

impl Marks {
    fn see(&mut self, c: char) {
        if std::mem::take(&mut self.is_escaped) {
            return;
        }
        match c {
            '\\' => self.is_escaped = true,
            '`' => self.is_code = !self.is_code,
            '[' => self.brackets += 1,
            ']' => self.brackets = self.brackets.saturating_sub(1),
            _ => {}
        }
    }

    fn is_open(&self) -> bool {
        self.is_code || self.brackets > 0
    }
}

/// Whether the point at the end belongs to a short form or to an initial.
fn is_short(sentence: &str) -> bool {
    let body = &sentence[..sentence.len() - 1];
    let start = body.rfind(|c: char| c.is_whitespace() || c == '(').map_or(0, |at| at + 1);
    let word = body.get(start..).unwrap_or_default();
    let is_initial = word.len() == 1 && word.starts_with(|c: char| c.is_ascii_uppercase());
    is_initial || SHORT.iter().any(|short| short.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The parts of a text that arrives in pieces of this many bytes.
    fn parts(text: &str, size: usize) -> Vec<String> {
        let (mut sentences, mut found) = (Sentences::default(), Vec::new());
        for piece in text.as_bytes().chunks(size) {
            sentences.push(str::from_utf8(piece).unwrap());
            found.extend(std::iter::from_fn(|| sentences.next()));
        }
        found.extend(sentences.rest());
        found.into_iter().map(|part| part.text).collect()
    }

    #[test]
    fn a_text_is_cut_the_same_way_however_it_arrives() {
        let text = "It is at 193.12. It rose (1.1%).  [tool:a:v1]\n\n- One. Two\n1. Three e.g. four\n| a. b | c. d |\n\
                    Is it `x. y` or [a. b] vs. Rs. 5? Yes! No";
        let expected = [
            "It is at 193.12. ",
            "It rose (1.1%). ",
            " [tool:a:v1]\n",
            "\n",
            "- One. ",
            "Two\n",
            "1. Three e.g. four\n",
            "| a. b | c. d |\n",
            "Is it `x. y` or [a. b] vs. Rs. 5? ",
            "Yes! ",
            "No",
        ];
        for size in [1, 2, 7, 1000] {
            assert_eq!(parts(text, size), expected, "in pieces of {size}");
        }
    }

    #[test]
    fn code_is_given_line_by_line() {
        let mut sentences = Sentences::default();
        sentences.push("```\na. b\n```\nc. d\n");
        let code: Vec<_> =
            std::iter::from_fn(|| sentences.next()).map(|part| (part.text, part.is_code)).collect();
        let expected = [("```\n", true), ("a. b\n", true), ("```\n", true), ("c. ", false), ("d\n", false)];
        assert_eq!(code, expected.map(|(text, is_code)| (text.to_owned(), is_code)));
    }
}
