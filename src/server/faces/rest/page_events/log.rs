//! The last events of a feed, encoded, by their number.

use std::collections::VecDeque;

use bytes::Bytes;

/// Maximum size of what is kept, in bytes; the last piece is kept in any case.
const MAX_BYTES: usize = 2 * 1024 * 1024;

#[derive(Debug, Default)]
pub(super) struct Log {
    pieces: VecDeque<Piece>,
    bytes: usize,
    /// The number of the next event.
    next: u64,
    is_over: bool,
}

/// Events that came at once.
#[derive(Debug)]
struct Piece {
    /// The number of the first event.
    first: u64,
    /// Where each event ends in the text.
    ends: Vec<usize>,
    text: Bytes,
}

/// What a reader finds at its position.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Events, and the number of the one after them.
    Events(Bytes, u64),
    /// All events that there are have been read.
    Nothing,
    /// The event of this number is not kept any more, or is not there yet.
    Lost,
    /// The last event was read.
    End,
}

impl Log {
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Adds events, where each of them ends at one of `ends`.
    pub(super) fn append(&mut self, text: String, ends: Vec<usize>) {
        self.bytes += text.len();
        let first = self.next;
        self.next += ends.len() as u64;
        self.pieces.push_back(Piece { first, ends, text: text.into() });
        while self.bytes > MAX_BYTES && self.pieces.len() > 1 {
            self.bytes -= self.pieces.pop_front().map_or(0, |piece| piece.text.len());
        }
    }

    /// Ends the log: no event follows.
    pub(super) fn end(&mut self) {
        self.is_over = true;
    }

    /// The events of a piece from a number on.
    pub(super) fn read(&self, from: u64) -> Found {
        let kept = self.pieces.front().map_or(self.next, |piece| piece.first);
        if !(kept..=self.next).contains(&from) {
            return Found::Lost;
        }
        let after = self.pieces.partition_point(|piece| piece.first <= from);
        let Some(piece) = after.checked_sub(1).map(|at| &self.pieces[at]).filter(|_| from < self.next) else {
            return if self.is_over { Found::End } else { Found::Nothing };
        };
        let last_read =
            from.checked_sub(piece.first + 1).and_then(|at| piece.ends.get(usize::try_from(at).ok()?));
        let begin = last_read.copied().unwrap_or(0);
        Found::Events(piece.text.slice(begin..), piece.first + piece.ends.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(events: &[&str]) -> (String, Vec<usize>) {
        let mut text = String::new();
        let ends = events.iter().map(|event| {
            text.push_str(event);
            text.len()
        });
        let ends = ends.collect();
        (text, ends)
    }

    fn append(log: &mut Log, events: &[&str]) {
        let (text, ends) = of(events);
        log.append(text, ends);
    }

    #[test]
    fn a_reader_goes_on_after_any_event() {
        let mut log = Log::default();
        assert_eq!(log.read(0), Found::Nothing);
        append(&mut log, &["a", "bb", "c"]);
        append(&mut log, &["d"]);
        assert_eq!(log.read(0), Found::Events("abbc".into(), 3));
        assert_eq!(log.read(2), Found::Events("c".into(), 3));
        assert_eq!(log.read(3), Found::Events("d".into(), 4));
        assert_eq!((log.read(4), log.read(5)), (Found::Nothing, Found::Lost));
        log.end();
        assert_eq!((log.read(3), log.read(4)), (Found::Events("d".into(), 4), Found::End));
    }

    #[test]
    fn what_is_kept_is_bounded_and_a_reader_that_is_too_slow_is_lost() {
        let (mut log, large) = (Log::default(), "x".repeat(MAX_BYTES / 4));
        for _ in 0..5 {
            append(&mut log, &[&large]);
        }
        assert!(log.bytes <= MAX_BYTES);
        assert_eq!(log.read(0), Found::Lost);
        assert!(matches!(log.read(1), Found::Events(_, 2)));
        append(&mut log, &[&"x".repeat(2 * MAX_BYTES)]);
        assert!(matches!(log.read(5), Found::Events(_, 6)), "the last one is kept");
    }
}
