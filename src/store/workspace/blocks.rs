//! The content of a document as blocks: `{"blocks": {"000001": {"type": …}, …}}` in the order of the keys.
//!
//! Derived from the first [`READ`] bytes and never stored. Markdown, tables, JSON and text are understood; everything
//! else, and what lies beyond, is one `file`.

mod build;
mod json;
mod markdown;
pub mod table;
mod text;

use serde_json::{Value, json};

use self::build::{Blocks, code};
use super::{
    image,
    mime::{self, Kind},
    utf8,
};
use toolwire_base::{digest::Digest, words::without_bom};

/// Another function has another number, so that what was derived can be told apart.
pub const VERSION: u32 = 1;
/// So many bytes of a document are looked at.
pub const READ: usize = 1024 * 1024;

/// What is known of a whole document, of which only the first bytes may be at hand.
#[derive(Clone, Copy, Debug)]
pub struct Whole {
    pub size: u64,
    pub digest: Digest,
}

/// The blocks of a document.
pub fn of(mime: &str, bytes: &[u8]) -> Value {
    of_first(mime, bytes, &Whole { size: bytes.len() as u64, digest: Digest::of_bytes(bytes) })
}

/// The blocks of a document of which these are the first bytes: [`READ`] of them or all.
pub fn of_first(mime: &str, first: &[u8], whole: &Whole) -> Value {
    let read = &first[..first.len().min(READ)];
    let is_whole = read.len() as u64 == whole.size;
    let file = || json!({"type": "file", "mime_type": mime, "digest": whole.digest.to_string(), "size_bytes": whole.size});
    let mut blocks = Blocks::default();
    let text = if is_whole { std::str::from_utf8(read).ok() } else { utf8::prefix(read) };
    match text.filter(|_| mime::is_text(mime)) {
        Some(text) => {
            write_text(Kind::of(mime), without_bom(text), is_whole, &mut blocks);
            if !is_whole || blocks.is_over() {
                blocks.write(file());
            }
        }
        None if Kind::of(mime) == Kind::Image => blocks.write(image(mime, read, whole)),
        None => blocks.write(file()),
    }
    json!({"blocks": blocks.into_map()})
}

fn write_text(kind: Kind<'_>, text: &str, is_whole: bool, blocks: &mut Blocks) {
    match kind {
        Kind::Table(delimiter) => table::write(delimiter, text, is_whole, blocks),
        Kind::Json => json::write(text, blocks),
        Kind::JsonLines => json::write_lines(text, is_whole, blocks),
        Kind::Markdown => markdown::write(text, blocks),
        Kind::Code(language) => blocks.push(code(language, text)),
        Kind::Plain | Kind::Image | Kind::Other => text::write(text, blocks),
    }
}

fn image(mime: &str, bytes: &[u8], whole: &Whole) -> Value {
    let mut block = json!({"type": "image", "mime_type": mime, "digest": whole.digest.to_string()});
    if let Some((width, height)) = image::size(bytes) {
        block["width"] = width.into();
        block["height"] = height.into();
    }
    block
}

/// The prose of a Markdown text: what people read of it, without its marks.
pub(super) fn prose(text: &str) -> Vec<String> {
    let mut blocks = Blocks::default();
    markdown::write(text, &mut blocks);
    blocks.texts().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests;
