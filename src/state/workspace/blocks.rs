//! The content of a document as blocks: `{"blocks": {"000001": {"type": …}, …}}` in the order of the keys.
//!
//! Derived from the first [`MAX_BYTES`] bytes and never stored. Markdown, tables, JSON and text have blocks of their
//! own; every other format, and the part beyond the limits, is one `file` block.

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

/// Version of the derivation, incremented whenever its output changes, so that results of different versions are
/// distinguishable.
pub const VERSION: u32 = 1;
/// Maximum bytes of a document that are analysed.
pub const MAX_BYTES: usize = 1024 * 1024;

/// Properties of the whole document, of which only the first bytes may be available.
#[derive(Clone, Copy, Debug)]
pub struct Whole {
    pub size: u64,
    pub digest: Digest,
}

pub fn of(mime: &str, bytes: &[u8]) -> Value {
    of_prefix(mime, bytes, &Whole { size: bytes.len() as u64, digest: Digest::of_bytes(bytes) })
}

/// The blocks of a document, given its first bytes: [`MAX_BYTES`] of them, or all.
pub fn of_prefix(mime: &str, first: &[u8], whole: &Whole) -> Value {
    let read = &first[..first.len().min(MAX_BYTES)];
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

/// The prose of a Markdown text, without its markup.
pub(super) fn prose(text: &str) -> Vec<String> {
    let mut blocks = Blocks::default();
    markdown::write(text, &mut blocks);
    blocks.texts().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests;
