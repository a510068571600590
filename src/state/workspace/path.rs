//! The path of a document: a name with `/` as separator. It identifies a row; no path ever reaches a file system.

use std::{fmt, str::FromStr};

use thiserror::Error;
use unicode_normalization::UnicodeNormalization;

use toolwire_base::words::is_hidden;

/// Maximum bytes of a path.
pub const MAX_BYTES: usize = 512;
/// Maximum number of segments of a path.
pub const MAX_SEGMENTS: usize = 16;
pub const MAX_SEGMENT_BYTES: usize = 128;
/// The folder that is reserved for the service.
const RESERVED: &str = ".toolwire";

/// A valid path. Normalised to NFC, so that two spellings that look the same are one path.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Path(String);

#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PathError {
    #[error("the path is empty: write a relative one, such as reports/q3.md")]
    Empty,
    #[error("the path begins with `{0}`: write a relative one, such as reports/q3.md")]
    Absolute(char),
    #[error("the path is longer than {MAX_BYTES} bytes")]
    TooLong,
    #[error("the path has more than {MAX_SEGMENTS} segments")]
    TooDeep,
    #[error("the path has an empty segment: a `/` at its end, or two of them together")]
    EmptySegment,
    #[error("the path has the segment `{0}`: write the way to the document from the top")]
    Dots(String),
    #[error("the path has a segment longer than {MAX_SEGMENT_BYTES} bytes")]
    LongSegment,
    #[error("the path has a segment that ends with a dot or a space: `{0}`")]
    TrailingMark(String),
    /// A character that is invisible, or that readers mistake for a separator.
    #[error("the path has the character {}, which may not stand there", .0.escape_unicode())]
    Character(char),
    #[error("the folder `{RESERVED}` is reserved")]
    Reserved,
}

impl Path {
    pub fn parse(text: &str) -> Result<Self, PathError> {
        // NFC changes the length of a text at most threefold, so a longer text is refused without normalising it.
        if text.len() > 3 * MAX_BYTES {
            return Err(PathError::TooLong);
        }
        let text: String = text.nfc().collect();
        match text.chars().next() {
            None => return Err(PathError::Empty),
            Some(first @ ('/' | '~')) => return Err(PathError::Absolute(first)),
            Some(_) => {}
        }
        if let Some(c) = text.chars().find(|c| *c == '\\' || c.is_control() || is_hidden(*c)) {
            return Err(PathError::Character(c));
        }
        if text.len() > MAX_BYTES {
            return Err(PathError::TooLong);
        }
        if text.split('/').count() > MAX_SEGMENTS {
            return Err(PathError::TooDeep);
        }
        text.split('/').try_for_each(check)?;
        if text.split('/').next().is_some_and(|first| first.eq_ignore_ascii_case(RESERVED)) {
            return Err(PathError::Reserved);
        }
        Ok(Self(text))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The last segment.
    pub fn file_name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// The part after the last dot of the last segment, unless the dot is its first character.
    pub fn extension(&self) -> Option<&str> {
        let (stem, extension) = self.file_name().rsplit_once('.')?;
        (!stem.is_empty()).then_some(extension)
    }
}

fn check(segment: &str) -> Result<(), PathError> {
    if segment.is_empty() {
        return Err(PathError::EmptySegment);
    }
    if segment == "." || segment == ".." {
        return Err(PathError::Dots(segment.to_owned()));
    }
    if segment.len() > MAX_SEGMENT_BYTES {
        return Err(PathError::LongSegment);
    }
    if segment.ends_with(['.', ' ']) {
        return Err(PathError::TrailingMark(segment.to_owned()));
    }
    Ok(())
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<str> for Path {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl FromStr for Path {
    type Err = PathError;

    fn from_str(text: &str) -> Result<Self, PathError> {
        Self::parse(text)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn relative_paths_of_plain_segments_are_read_as_they_stand() {
        for path in [
            "a",
            "sales_raw.csv",
            "reports/2024/Q3 final.md",
            ".hidden",
            "日本/語.txt",
            "a..b/~c",
            "a.toolwire",
        ] {
            assert_eq!(Path::parse(path).unwrap().as_str(), path);
        }
        assert!(Path::parse(&"s".repeat(MAX_SEGMENT_BYTES)).is_ok());
        assert!(Path::parse(&["s"; MAX_SEGMENTS].join("/")).is_ok());
    }

    #[test]
    fn two_spellings_that_look_the_same_are_one_path() {
        assert_eq!(Path::parse("cafe\u{301}.md"), Path::parse("caf\u{e9}.md"));
    }

    #[test]
    fn each_rule_has_its_refusal() {
        let long = "s".repeat(MAX_SEGMENT_BYTES + 1);
        let far = ["s".repeat(100).as_str(); 6].join("/");
        let deep = ["s"; MAX_SEGMENTS + 1].join("/");
        for (path, error) in [
            ("", PathError::Empty),
            ("/etc/passwd", PathError::Absolute('/')),
            ("~/notes", PathError::Absolute('~')),
            ("a//b", PathError::EmptySegment),
            ("a/", PathError::EmptySegment),
            ("../a", PathError::Dots("..".to_owned())),
            ("a/./b", PathError::Dots(".".to_owned())),
            ("a/..", PathError::Dots("..".to_owned())),
            (&long, PathError::LongSegment),
            (&far, PathError::TooLong),
            (&"s/".repeat(2_000), PathError::TooLong),
            (&deep, PathError::TooDeep),
            ("a./b", PathError::TrailingMark("a.".to_owned())),
            ("a ", PathError::TrailingMark("a ".to_owned())),
            ("a\\b", PathError::Character('\\')),
            ("a\0b", PathError::Character('\0')),
            ("a\nb", PathError::Character('\n')),
            ("a\u{202e}b", PathError::Character('\u{202e}')),
            ("a\u{200b}b", PathError::Character('\u{200b}')),
            (".toolwire/state", PathError::Reserved),
            (".Toolwire", PathError::Reserved),
        ] {
            assert_eq!(Path::parse(path), Err(error), "{path}");
        }
    }

    #[test]
    fn an_extension_follows_a_name() {
        let extension = |path: &str| Path::parse(path).unwrap().extension().map(str::to_owned);
        assert_eq!(extension("a.b/c.tar.gz").as_deref(), Some("gz"));
        assert_eq!([extension("a.b/c"), extension(".bashrc")], [None, None]);
    }

    proptest! {
        #[test]
        fn whatever_is_read_keeps_the_bounds_and_is_read_as_itself(text in ".{0,200}") {
            if let Ok(path) = Path::parse(&text) {
                prop_assert!(path.as_str().len() <= MAX_BYTES);
                prop_assert!(path.as_str().split('/').all(|segment| !segment.is_empty() && segment != ".."));
                prop_assert_eq!(Path::parse(path.as_str()), Ok(path.clone()));
            }
        }
    }
}
