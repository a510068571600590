//! Words in their looks, as lines of a width.

use unicode_width::UnicodeWidthStr;

use super::Line;
use toolwire_server::console::{Look, Span};

pub(super) fn span(text: String, look: Look) -> Span {
    Span { text, look }
}

/// Words as lines of a width, broken at spaces.
pub(super) fn wrap(spans: &[Span], width: usize, begin: &str, rest: &str) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    let (mut line, mut used) = (vec![span(begin.to_owned(), Look::Plain)], begin.width());
    for word in words(spans) {
        let length: usize = word.iter().map(|it| it.text.width()).sum();
        let is_begun = line.len() > 1;
        if is_begun && used + 1 + length > width {
            lines.push(std::mem::replace(&mut line, vec![span(rest.to_owned(), Look::Plain)]));
            used = rest.width();
        } else if is_begun {
            line.push(span(" ".to_owned(), Look::Plain));
            used += 1;
        }
        used += length;
        line.extend(word);
    }
    lines.push(line);
    lines
}

/// The words of a text, each of parts in their looks.
fn words(spans: &[Span]) -> Vec<Line> {
    let mut words: Vec<Line> = vec![Vec::new()];
    for Span { text, look } in spans {
        for (at, part) in text.split(' ').enumerate() {
            if at > 0 {
                words.push(Vec::new());
            }
            if let (false, Some(word)) = (part.is_empty(), words.last_mut()) {
                word.push(span(part.to_owned(), *look));
            }
        }
    }
    words.retain(|word| !word.is_empty());
    words
}
