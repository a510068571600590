//! Text from outside, made safe to hand to a model: the one module through which all of it goes (spec 004 §7.2).
//!
//! Removes what hides or disguises: markup, control, bidi, zero-width and tag characters, and whatever looks like the
//! frame that is put around such text later. It does not judge what the text says: an instruction in it stays, as the
//! plain text it is, inside the frame.

mod characters;
mod cut;
mod frame;
mod html;
mod line;
mod space;
mod tags;

pub use line::Line;

/// More of a raw text than this, in bytes, is never looked at.
const MAX_RAW: usize = 64 * 1024;

/// The longest title, author or flair, in characters.
const MAX_TITLE: usize = 300;

/// The plain text of a piece of HTML: without quotes of others, link previews' pictures, scripts and styles; an image
/// is its `alt`. At most `max_chars` characters, the last of them "…" if something was cut.
pub fn plain_from_html(raw: &str, max_chars: usize) -> String {
    plain(&html::to_text(cut::bytes(raw, MAX_RAW)), max_chars)
}

/// A text that is plain already, or Markdown, which stays as it is written except that its links and images no longer
/// work. At most `max_chars` characters, the last of them "…" if something was cut.
pub fn plain(raw: &str, max_chars: usize) -> String {
    let text = space::lines(&characters::visible(cut::bytes(raw, MAX_RAW)));
    cut::characters(&frame::neutral(&text), max_chars)
}

/// A title, an author's name, a flair: one line of plain text of at most 300 characters.
pub fn title(raw: &str) -> String {
    let text = space::one_line(&characters::visible(cut::bytes(raw, MAX_RAW)));
    cut::characters(&frame::neutral(&text), MAX_TITLE)
}

/// The title that a piece of HTML stands for, as feeds give it: one line of plain text of at most 300 characters.
pub fn title_from_html(raw: &str) -> String {
    title(&html::to_text(cut::bytes(raw, MAX_RAW)))
}

#[cfg(test)]
mod tests;
