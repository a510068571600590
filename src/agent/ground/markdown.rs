//! As much of Markdown as the checks need: what a line is, and where code is in it.

use std::ops::Range;

/// What a line is, by its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Nothing but white space: it ends a block.
    Blank,
    /// `| a | b |`.
    Row,
    /// `## a`.
    Heading,
    /// `- a`, or `1. a` with its ordinal; the length of what stands before the text.
    Item { ordinal: Option<u32>, marker: usize },
    /// Three or more of a character begin or end a block of code.
    Fence(Fence),
    /// Anything else.
    Text,
}

/// What begins a block of code. The same or more of it ends the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fence {
    mark: u8,
    count: usize,
    is_bare: bool,
}

impl Line {
    /// What the line is that begins with a text, as far as its beginning says.
    pub(super) fn of(text: &str) -> Self {
        let trimmed = text.trim_start_matches([' ', '\t', '>']);
        let indent = text.len() - trimmed.len();
        if trimmed.trim().is_empty() {
            return Self::Blank;
        }
        if let Some(fence) = Fence::of(text) {
            return Self::Fence(fence);
        }
        match trimmed.as_bytes()[0] {
            b'|' => Self::Row,
            b'#' => Self::Heading,
            b'-' | b'*' | b'+' if trimmed[1..].starts_with([' ', '\t', '\n']) => {
                Self::Item { ordinal: None, marker: indent + 1 }
            }
            b'0'..=b'9' => parse_numbered(trimmed, indent).unwrap_or(Self::Text),
            _ => Self::Text,
        }
    }
}

fn parse_numbered(text: &str, indent: usize) -> Option<Line> {
    let digits = text.bytes().take(10).take_while(u8::is_ascii_digit).count();
    let rest = text[digits..].strip_prefix(['.', ')'])?;
    let ordinal = text[..digits].parse().ok()?;
    let ends = rest.is_empty() || rest.starts_with([' ', '\t', '\n']);
    ends.then_some(Line::Item { ordinal: Some(ordinal), marker: indent + digits + 1 })
}

impl Fence {
    fn of(text: &str) -> Option<Self> {
        let rest = text.trim_start_matches(' ');
        let mark = *rest.as_bytes().first().filter(|mark| matches!(mark, b'`' | b'~'))?;
        let count = rest.bytes().take_while(|byte| *byte == mark).count();
        let info = rest[count..].trim();
        let is_fence = text.len() - rest.len() <= 3 && count >= 3 && !(mark == b'`' && info.contains('`'));
        is_fence.then_some(Self { mark, count, is_bare: info.is_empty() })
    }

    /// Whether this line ends the block that the other one began.
    pub(super) fn ends(self, begun: Self) -> bool {
        self.mark == begun.mark && self.count >= begun.count && self.is_bare
    }
}

/// Parts of a text, in order of where they begin, to be asked for one place after the other.
pub(super) struct Covered<'a> {
    left: &'a [Range<usize>],
    until: usize,
}

impl<'a> Covered<'a> {
    pub(super) fn of(parts: &'a [Range<usize>]) -> Self {
        Self { left: parts, until: 0 }
    }

    /// Whether a place is in one of the parts. Places must ascend.
    pub(super) fn has(&mut self, at: usize) -> bool {
        while let [first, rest @ ..] = self.left
            && first.start <= at
        {
            self.until = self.until.max(first.end);
            self.left = rest;
        }
        at < self.until
    }
}

/// The parts of a text that are code, their marks included.
pub(super) fn code(text: &str) -> Vec<Range<usize>> {
    let runs = runs(text);
    let (mut spans, mut at) = (Vec::new(), 0);
    while at < runs.len() {
        let open = &runs[at];
        let close = runs[at + 1..].iter().take(MOST_RUNS).position(|run| run.len() == open.len());
        match close {
            Some(ahead) => {
                let close = at + 1 + ahead;
                spans.push(open.start..runs[close].end);
                at = close + 1;
            }
            None => at += 1,
        }
    }
    spans
}

/// The most runs of marks that a span may go across, so that no text takes long.
const MOST_RUNS: usize = 32;

/// Runs of the mark of code.
fn runs(text: &str) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    let (bytes, mut at) = (text.as_bytes(), 0);
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'`' => {
                let count = bytes[at..].iter().take_while(|byte| **byte == b'`').count();
                runs.push(at..at + count);
                at += count;
            }
            _ => at += 1,
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_told_by_its_beginning() {
        let item = |ordinal, marker| Line::Item { ordinal, marker };
        for (text, expected) in [
            ("  \n", Line::Blank),
            ("| a |", Line::Row),
            ("## A", Line::Heading),
            ("- a", item(None, 1)),
            (" 12. a", item(Some(12), 4)),
            ("12.5 a", Line::Text),
            ("-5 a", Line::Text),
            ("``a``", Line::Text),
        ] {
            assert_eq!(Line::of(text), expected, "{text}");
        }
        let Line::Fence(begun) = Line::of("```json\n") else { panic!("a fence") };
        let Line::Fence(end) = Line::of("````\n") else { panic!("a fence") };
        assert!(end.ends(begun) && !begun.ends(begun));
    }

    #[test]
    fn code_stands_between_equal_marks() {
        assert_eq!(code("a `b` ``c`d`` `e"), [2..5, 6..13]);
        assert!(code("\\`a`").is_empty());
    }
}
