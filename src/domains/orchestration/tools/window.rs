//! A window of lines over a text that comes in pieces: whole lines, as many as fit.

use toolwire_state::workspace::utf8;

/// Maximum size of an excerpt, in bytes.
pub(super) const MAX_BYTES: usize = 65_536;

/// The lines so far.
#[derive(Debug)]
pub(super) struct Window {
    /// The line that the next byte belongs to, from 1.
    line: u32,
    from: u32,
    /// The first line after the window.
    until: u32,
    content: Vec<u8>,
    /// Whether the text goes on after the content.
    is_more: bool,
}

/// What a window shows.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Excerpt {
    pub(super) text: String,
    /// The first line that is not shown whole; 0 if nothing follows.
    pub(super) next_line: u32,
    /// Whether the one line that is shown is cut.
    pub(super) is_line_cut: bool,
}

impl Window {
    /// This many lines from the given one on, which is 1 for the first.
    pub(super) fn new(from: u32, lines: Option<u32>) -> Self {
        let from = from.max(1);
        let until = lines.map_or(u32::MAX, |lines| from.saturating_add(lines));
        Self { line: 1, from, until, content: Vec::new(), is_more: false }
    }

    /// Adds the next bytes of the text. Returns whether the window needs more.
    pub(super) fn push(&mut self, bytes: &[u8]) -> bool {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.line >= self.until || self.content.len() > MAX_BYTES {
                self.is_more = true;
                return false;
            }
            if self.line >= self.from {
                // One byte more than fits, by which `finish` knows that the lines exceed it.
                let remaining = MAX_BYTES + 1 - self.content.len();
                self.content.extend_from_slice(&piece[..piece.len().min(remaining)]);
            }
            if piece.ends_with(b"\n") {
                self.line = self.line.saturating_add(1);
            }
        }
        true
    }

    /// The excerpt, once the text ends or the window is full.
    pub(super) fn finish(self) -> Excerpt {
        let Self { content, from, is_more, .. } = self;
        if content.len() <= MAX_BYTES {
            let next_line = if is_more { from.saturating_add(lines(&content)) } else { 0 };
            return Excerpt {
                text: String::from_utf8_lossy(&content).into_owned(),
                next_line,
                is_line_cut: false,
            };
        }
        // Whole lines, or the beginning of the first one if it alone exceeds the maximum.
        let whole = content[..MAX_BYTES].iter().rposition(|byte| *byte == b'\n').map(|last| last + 1);
        let kept = &content[..whole.unwrap_or(MAX_BYTES)];
        let next = lines(kept).max(1);
        let text =
            utf8::prefix(kept).map_or_else(|| String::from_utf8_lossy(kept).into_owned(), str::to_owned);
        Excerpt { text, next_line: from.saturating_add(next), is_line_cut: whole.is_none() }
    }
}

/// Number of lines that end in a text.
fn lines(text: &[u8]) -> u32 {
    u32::try_from(text.split(|byte| *byte == b'\n').count() - 1).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, from: u32, lines: Option<u32>, piece: usize) -> (String, u32, bool) {
        let mut window = Window::new(from, lines);
        for piece in text.as_bytes().chunks(piece) {
            if !window.push(piece) {
                break;
            }
        }
        let Excerpt { text, next_line, is_line_cut } = window.finish();
        (text, next_line, is_line_cut)
    }

    #[test]
    fn lines_are_those_asked_for_whatever_the_pieces() {
        let text = "one\ntwo\nthree\nfour";
        for piece in [1, 3, 100] {
            for (from, lines, expected) in [
                (1, None, (text, 0)),
                (2, Some(2), ("two\nthree\n", 4)),
                (4, Some(1), ("four", 0)),
                (3, Some(9), ("three\nfour", 0)),
                (9, None, ("", 0)),
                (0, Some(1), ("one\n", 2)),
            ] {
                let (text, next, is_cut) = shown(text, from, lines, piece);
                assert_eq!(
                    (text.as_str(), next, is_cut),
                    (expected.0, expected.1, false),
                    "{from} {lines:?}"
                );
            }
        }
        assert_eq!(shown("", 1, None, 1), (String::new(), 0, false));
    }

    #[test]
    fn what_does_not_fit_ends_at_a_line() {
        let line = format!("{}\n", "x".repeat(999));
        let (text, next, is_cut) = shown(&line.repeat(100), 11, None, 777);
        assert_eq!((text.len(), next, is_cut), (65_000, 76, false));
        let (text, next, is_cut) = shown(&"é".repeat(MAX_BYTES), 1, None, 777);
        assert_eq!((text.len(), next, is_cut), (MAX_BYTES, 2, true));
        assert!(text.chars().all(|c| c == 'é'));
    }

    #[test]
    fn a_text_that_fits_exactly_is_whole() {
        let (text, next, is_cut) = shown(&"x".repeat(MAX_BYTES), 1, None, 777);
        assert_eq!((text.len(), next, is_cut), (MAX_BYTES, 0, false));
    }
}
