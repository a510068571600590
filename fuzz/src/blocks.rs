//! Bytes as a document: its first line states a type, the rest is the content. Every content has a type, blocks, a
//! summary and a count of tokens, the same each time and within their bounds.

use toolwire::{
    state::workspace::{blocks, mime, path::Path, summary, terms, utf8},
    tokens,
};

/// Types that are read in a way of their own.
const TYPES: [&str; 8] = [
    "application/json",
    "application/x-ndjson",
    "image/png",
    "text/csv",
    "text/markdown",
    "text/plain",
    "text/tab-separated-values",
    "text/x-rust",
];

/// Reads a document.
pub fn run(input: &[u8]) {
    let types = TYPES.map(|name| (name.to_owned(), name));
    let (mime, content) = super::choice(input, &types);
    let made = blocks::of(mime, content);
    let map = made["blocks"].as_object().expect("an object of blocks");
    for (number, (key, block)) in map.iter().enumerate() {
        assert_eq!(*key, format!("{:06}", number + 1));
        assert!(block["type"].is_string());
    }
    assert_eq!(made, blocks::of(mime, content));
    let summary = summary::of(mime, content);
    assert!(
        summary.chars().count() <= summary::MAX_CHARS && !summary.contains(char::is_control),
        "{summary}"
    );
    let path = Path::parse("document").expect("a path");
    drop(mime::detect(None, &path, content).expect("nothing is stated"));
    drop(mime::detect(Some(mime), &path, content));
    if let Some(text) = utf8::prefix(content) {
        assert!(tokens::count(text) <= text.len() as u64);
        assert!(terms::words(text).all(|(begin, word)| text[begin..].starts_with(word)));
    }
}
