//! The MIME type of a document: the stated one, otherwise detected from its first bytes, its extension, and whether it
//! is text.

use infer::MatcherType;
use thiserror::Error;

use super::{path::Path, utf8};

/// Maximum bytes of a type.
pub const MAX_BYTES: usize = 127;
/// Bytes of a document from which its type is detected.
pub const HEAD: usize = 8 * 1024;

/// The type of unrecognised bytes.
const BINARY: &str = "application/octet-stream";
/// The type of unrecognised text.
const PLAIN: &str = "text/plain";

/// Extensions that `mime_guess` does not know or maps to another type.
const EXTENSIONS: [(&str, &str); 3] =
    [("jsonl", "application/x-ndjson"), ("ndjson", "application/x-ndjson"), ("ts", "text/x-typescript")];

/// Binary formats whose bytes may consist of text only.
const LIKE_TEXT: [&str; 3] = ["application/pdf", "application/postscript", "application/rtf"];

/// Types of text outside of `text/`.
const TEXT: [&str; 16] = [
    "application/csv",
    "application/ecmascript",
    "application/graphql",
    "application/javascript",
    "application/json",
    "application/json5",
    "application/jsonl",
    "application/sql",
    "application/toml",
    "application/x-ndjson",
    "application/x-sh",
    "application/x-sql",
    "application/x-yaml",
    "application/xml",
    "application/yaml",
    "application/x-httpd-php",
];

#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MimeError {
    #[error("the type `{0}` is not of the form type/subtype, such as text/csv, of at most {MAX_BYTES} bytes")]
    Malformed(String),
    #[error("the type is stated as {stated}, but the content is {found}: state another, or none")]
    Contradicted {
        stated: String,
        /// The detected type.
        found: String,
    },
}

/// The parser for a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind<'a> {
    /// Delimiter-separated values, with the given delimiter.
    Table(u8),
    Json,
    /// One JSON value per line.
    JsonLines,
    Markdown,
    /// Unstructured text.
    Plain,
    /// Text in a formal language, such as `rust`.
    Code(&'a str),
    Image,
    Other,
}

impl<'a> Kind<'a> {
    pub fn of(mime: &'a str) -> Self {
        match mime {
            "text/csv" | "application/csv" => Self::Table(b','),
            "text/tab-separated-values" => Self::Table(b'\t'),
            "application/json" => Self::Json,
            "application/x-ndjson" | "application/jsonl" => Self::JsonLines,
            "text/markdown" | "text/x-markdown" => Self::Markdown,
            PLAIN => Self::Plain,
            _ if mime.ends_with("+json") => Self::Json,
            _ if is_text(mime) => Self::Code(language(mime)),
            _ if mime.starts_with("image/") => Self::Image,
            _ => Self::Other,
        }
    }
}

/// Whether documents of a type are text, whose tokens are counted and whose words are indexed.
pub fn is_text(mime: &str) -> bool {
    let is_text = mime.starts_with("text/") || mime.ends_with("+json") || mime.ends_with("+xml");
    is_text || TEXT.contains(&mime)
}

fn language(mime: &str) -> &str {
    let subtype = mime.split_once('/').map_or(mime, |(_, subtype)| subtype);
    let subtype = subtype.strip_prefix("x-").unwrap_or(subtype);
    subtype.rsplit_once('+').map_or(subtype, |(_, form)| form)
}

/// The type of a document, given its first bytes: [`HEAD`] of them, or all.
///
/// A stated type takes precedence, with two checks as far as these bytes allow: a text type requires text, and text
/// must not be stated as a format with known magic bytes. [`utf8::Utf8`] validates the remaining bytes.
pub fn detect(stated: Option<&str>, path: &Path, head: &[u8]) -> Result<String, MimeError> {
    let magic = magic(head);
    let Some(stated) = stated.filter(|stated| !stated.is_empty()) else {
        return Ok(guess(magic, path, head).to_owned());
    };
    let stated = validate(stated)?;
    let found = match magic {
        Some((mime, false)) => Some(mime),
        _ if utf8::prefix(head).is_none() => Some("not UTF-8"),
        _ => None,
    };
    match found {
        Some(found) if stated.starts_with("text/") && found != stated => {
            Err(MimeError::Contradicted { stated, found: found.to_owned() })
        }
        // A format with magic bytes, such as PDF, cannot be text: programs that open it would fail.
        None if !head.is_empty()
            && !is_text(&stated)
            && looks_like_text(head)
            && is_another(&stated, head) =>
        {
            Err(MimeError::Contradicted { stated, found: PLAIN.to_owned() })
        }
        _ => Ok(stated),
    }
}

/// Whether the type is of a format with magic bytes, and these bytes do not match.
fn is_another(stated: &str, head: &[u8]) -> bool {
    stated != BINARY && infer::is_mime_supported(stated) && !infer::is_mime(head, stated)
}

/// Validates a stated type by the grammar of RFC 6838, without parameters, and converts it to lower case.
fn validate(stated: &str) -> Result<String, MimeError> {
    let malformed = || MimeError::Malformed(utf8::first(stated, MAX_BYTES).escape_debug().to_string());
    let (kind, subtype) = stated.split_once('/').ok_or_else(malformed)?;
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_alphanumeric())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || "!#$&-^_.+".contains(c))
    };
    if stated.len() > MAX_BYTES || !is_name(kind) || !is_name(subtype) {
        return Err(malformed());
    }
    Ok(stated.to_ascii_lowercase())
}

/// The type that the magic bytes indicate, and whether it is a text type.
fn magic(head: &[u8]) -> Option<(&'static str, bool)> {
    let found = infer::get(head)?;
    let is_text = found.matcher_type() == MatcherType::Text;
    // Two letters are the magic bytes of BMP and of executables: a text that begins with them is still text.
    let is_believed = is_text || LIKE_TEXT.contains(&found.mime_type()) || !looks_like_text(head);
    is_believed.then(|| (found.mime_type(), is_text))
}

fn guess(magic: Option<(&'static str, bool)>, path: &Path, head: &[u8]) -> &'static str {
    if let Some((mime, false)) = magic {
        return mime;
    }
    // An extension counts only if the bytes agree: an image needs its magic bytes, and a text type needs text.
    let is_plain = looks_like_text(head);
    let named = path.extension().and_then(by_extension);
    let named = named.filter(|mime| head.is_empty() || is_plain == is_text(mime));
    let rest = if is_plain { PLAIN } else { BINARY };
    named.or(magic.map(|(mime, _)| mime)).unwrap_or(rest)
}

fn by_extension(extension: &str) -> Option<&'static str> {
    let extension = extension.to_ascii_lowercase();
    let own = EXTENSIONS.iter().find(|(name, _)| *name == extension).map(|(_, mime)| *mime);
    own.or_else(|| mime_guess::from_ext(&extension).first_raw())
}

/// Whether the bytes are UTF-8 without control characters that do not occur in text.
fn looks_like_text(head: &[u8]) -> bool {
    let is_shown = |c: char| !c.is_control() || matches!(c, '\t' | '\n' | '\r' | '\u{c}' | '\u{1b}');
    utf8::prefix(head).is_some_and(|text| text.chars().all(is_shown))
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    fn detected(path: &str, head: &[u8]) -> String {
        detect(None, &Path::parse(path).unwrap(), head).unwrap()
    }

    const ZIP: &[u8] = b"PK\x03\x04\x14\0\0\0\x08\0";
    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";

    #[test]
    fn first_bytes_then_the_extension_then_whether_it_is_text() {
        for (path, head, expected) in [
            ("chart.csv", PNG, "image/png"),
            ("report", b"%PDF-1.7 plain", "application/pdf"),
            ("sales.csv", b"region,revenue\n", "text/csv"),
            ("sales.TSV", b"region\trevenue\n", "text/tab-separated-values"),
            ("notes.md", b"# Notes", "text/markdown"),
            ("events.jsonl", b"{}\n", "application/x-ndjson"),
            ("main.ts", b"let a = 1;", "text/x-typescript"),
            ("charts.json", b"{}", "application/json"),
            ("clip.mp4", b"not a film", "text/plain"),
            ("page", b"<!DOCTYPE html><html>", "text/html"),
            ("picture.svg", b"<?xml version=\"1.0\"?><svg/>", "image/svg+xml"),
            ("cars.txt", b"BMW sold more", "text/plain"),
            ("cars", b"MZ is a place", "text/plain"),
            ("notes.txt", b"\xff\xfe\0a", "application/octet-stream"),
            ("data.bin", b"\x01\x02\0", "application/octet-stream"),
            ("empty.png", b"", "image/png"),
            ("empty", b"", "text/plain"),
            ("cut", "日本".as_bytes()[..4].as_ref(), "text/plain"),
        ] {
            assert_eq!(detected(path, head), expected, "{path}");
        }
    }

    #[test]
    fn what_is_stated_counts_where_it_can_be() {
        let path = Path::parse("a.md").unwrap();
        let of = |stated: &str, head: &[u8]| detect(Some(stated), &path, head);
        assert_eq!(of("Text/CSV", b"a,b"), Ok("text/csv".to_owned()));
        assert_eq!(of("application/vnd.acme+zip", ZIP), Ok("application/vnd.acme+zip".to_owned()));
        assert_eq!(of("", b"# a"), Ok("text/markdown".to_owned()));
        let wrong = |found: &str| {
            Err(MimeError::Contradicted { stated: "text/plain".to_owned(), found: found.to_owned() })
        };
        assert_eq!(of("text/plain", ZIP), wrong("application/zip"));
        assert_eq!(of("text/plain", b"caf\xe9 "), wrong("not UTF-8"));
        let no_pdf =
            MimeError::Contradicted { stated: "application/pdf".to_owned(), found: "text/plain".to_owned() };
        assert_eq!(of("application/pdf", b"Quarterly report"), Err(no_pdf));
        for (stated, head) in [
            ("application/pdf", b"%PDF-1.7 report".as_slice()),
            ("application/pdf", b""),
            ("application/x-tex", b"\\section{Report}"),
            ("image/svg+xml", b"<svg/>"),
            ("application/octet-stream", b"plain"),
        ] {
            assert_eq!(of(stated, head), Ok(stated.to_owned()), "{head:?}");
        }
        for malformed in
            ["text", "text/", "/csv", "text/csv; charset=utf-8", "te xt/csv", "a/b/c", "text/\u{e9}"]
        {
            assert!(matches!(of(malformed, b"a"), Err(MimeError::Malformed(_))), "{malformed}");
        }
        assert!(of(&format!("text/{}", "a".repeat(MAX_BYTES - 5)), b"a").is_ok());
        assert!(of(&format!("text/{}", "a".repeat(MAX_BYTES - 4)), b"a").is_err());
    }

    #[test]
    fn kinds_follow_from_types() {
        for (mime, kind) in [
            ("text/csv", Kind::Table(b',')),
            ("text/tab-separated-values", Kind::Table(b'\t')),
            ("application/geo+json", Kind::Json),
            ("text/x-rust", Kind::Code("rust")),
            ("image/svg+xml", Kind::Code("xml")),
            ("application/x-sh", Kind::Code("sh")),
            ("image/png", Kind::Image),
            ("application/pdf", Kind::Other),
        ] {
            assert_eq!(Kind::of(mime), kind, "{mime}");
        }
    }

    proptest! {
        #[test]
        fn every_document_has_a_type(bytes in vec(any::<u8>(), 0..300), name in "[a-z]{1,8}(\\.[a-z0-9]{1,5})?") {
            let path = Path::parse(&name).unwrap();
            let mime = detect(None, &path, &bytes).unwrap();
            prop_assert_eq!(detect(Some(&mime), &path, &bytes), Ok(mime));
        }
    }
}
