//! Cutting: by bytes before anything is looked at, by characters at the end.

use unicode_normalization::char::is_combining_mark;

/// Stands for what was cut.
const ELLIPSIS: char = '…';

/// The beginning of a text, of at most this many bytes, between two characters.
pub(super) fn bytes(text: &str, max: usize) -> &str {
    &text[..text.floor_char_boundary(max)]
}

/// The beginning of a text, of at most this many characters. A mark is not parted from the character that carries it.
pub(super) fn characters(text: &str, max: usize) -> String {
    let mut ends = text.char_indices();
    if max == 0 || ends.nth(max).is_none() {
        return if max == 0 { String::new() } else { text.to_owned() };
    }
    let kept = text.char_indices().nth(max - 1).map_or(0, |(start, _)| start);
    let (mut head, tail) = text.split_at(kept);
    if tail.starts_with(is_combining_mark) {
        head = head.trim_end_matches(is_combining_mark);
        head = &head[..head.char_indices().next_back().map_or(0, |(start, _)| start)];
    }
    let mut cut = head.trim_end().to_owned();
    cut.push(ELLIPSIS);
    cut
}
