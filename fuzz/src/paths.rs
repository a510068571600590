//! A text as the path of a document: what is read keeps every rule, is read as itself, and has a type.

use toolwire::state::workspace::{
    mime,
    path::{self, Path},
};

/// Reads a path.
pub fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    match Path::parse(text) {
        Ok(path) => check(&path),
        Err(error) => assert!((1..=700).contains(&error.to_string().len()), "{error}"),
    }
}

fn check(path: &Path) {
    let text = path.as_str();
    assert_eq!(Path::parse(text).as_ref(), Ok(path));
    assert!(text.len() <= path::MAX_BYTES && !text.starts_with(['/', '~']) && !text.contains(['\\', '\0']));
    let segments: Vec<_> = text.split('/').collect();
    assert!(segments.len() <= path::MAX_SEGMENTS);
    for segment in segments {
        assert!((1..=path::MAX_SEGMENT_BYTES).contains(&segment.len()));
        assert!(!segment.ends_with(['.', ' ']), "{segment}");
    }
    let mime = mime::detect(None, path, text.as_bytes()).expect("nothing is stated");
    assert_eq!(mime::detect(Some(&mime), path, text.as_bytes()), Ok(mime));
}
