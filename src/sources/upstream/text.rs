//! Text from outside, made safe to hand to a model: the one module through which all of it goes.
//!
//! Removes what hides or disguises: markup, control, bidi, zero-width and tag characters, and whatever looks like the
//! frame that is put around such text later. It does not judge what the text says: an instruction in it stays, as the
//! plain text it is, inside the frame.
//!
//! What comes out is of types that hold nothing else: a record that a source fills has fields of these, never a
//! `String` (`tests/tidy` checks it).

mod addresses;
mod characters;
mod cut;
mod exact;
mod frame;
mod html;
mod line;
mod passage;
mod readable;
mod space;
mod tags;

pub use exact::{Identifier, Link};
pub(super) use frame::read_as;
pub use line::Line;
pub use passage::{Passage, Raw};

use toolwire_base::words::one_line;

/// More of a raw text than this, in bytes, is never looked at.
const MAX_RAW: usize = 64 * 1024;

/// The longest title, author or flair, in characters.
const MAX_TITLE: usize = 300;

/// The plain text of a piece of HTML: without quotes of others, link previews' pictures, scripts and styles; an image
/// is its `alt`. At most `max_chars` characters, the last of them "…" if something was cut.
fn plain_from_html(raw: &str, max_chars: usize) -> String {
    plain(&html::to_text(cut::bytes(raw, MAX_RAW)), max_chars)
}

/// A text that is plain already, or Markdown, which stays as it is written except that its links and images no longer
/// work. At most `max_chars` characters, the last of them "…" if something was cut.
fn plain(raw: &str, max_chars: usize) -> String {
    let text = space::lines(&characters::visible(cut::bytes(raw, MAX_RAW)));
    cut::characters(&frame::neutral(&text), max_chars)
}

/// Markdown of which the tags of HTML in it are stripped, and in which addresses stay exactly as they are; otherwise as
/// [`plain`].
fn markdown(raw: &str, max_chars: usize) -> String {
    let text = space::lines(&without_tags(&characters::visible(cut::bytes(raw, MAX_RAW))));
    let safe = |(is_address, part): (bool, &str)| {
        if is_address && frame::is_neutral(part) { part.to_owned() } else { frame::neutral(part) }
    };
    let text: String = addresses::parts(&text).into_iter().map(safe).collect();
    // A marker may have one half within an address.
    cut::characters(&frame::without_markers(&text), max_chars)
}

/// A text without what looks like a tag: `<` and a letter, or a sign of one, up to the next `>` of the line.
fn without_tags(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        let (before, from) = rest.split_at(start);
        out.push_str(before);
        let inner = &from[1..];
        let is_tag = inner.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?'));
        let end = inner.find(['>', '<', '\n']).filter(|end| is_tag && inner[*end..].starts_with('>'));
        if let Some(end) = end {
            rest = &inner[end + 1..];
        } else {
            out.push('<');
            rest = inner;
        }
    }
    out.push_str(rest);
    out
}

/// A title, an author's name, a flair: one line of plain text of at most 300 characters.
fn title(raw: &str) -> String {
    let text = one_line(&characters::visible(cut::bytes(raw, MAX_RAW)));
    cut::characters(&frame::neutral(&text), MAX_TITLE)
}

/// The title that a piece of HTML stands for, as feeds give it: one line of plain text of at most 300 characters.
fn title_from_html(raw: &str) -> String {
    title(&html::to_text(cut::bytes(raw, MAX_RAW)))
}

#[cfg(test)]
mod tests;
