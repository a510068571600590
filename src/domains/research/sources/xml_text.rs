//! The bytes of an XML document as text: by its byte order mark, else the encoding its header names, else the one its
//! prolog names.
//!
//! Not here: parsing. Undeclared UTF-16 and UTF-32 are not accepted: their zeros make XML readers panic.

use encoding_rs::{Encoding, UTF_8};
use toolwire_sources::upstream::http::{Answer, Failure};

/// Maximum number of bytes in which a prolog is searched.
const PROLOG: usize = 200;

/// The text, without the prolog: what that says of the encoding no longer holds.
pub(super) fn text(answer: &Answer) -> Result<String, Failure> {
    let body = answer.body.trim_ascii_start();
    let named = answer.charset().or_else(|| of_prolog(body));
    // A byte order mark is heeded first, and taken off.
    let (text, ..) = named.unwrap_or(UTF_8).decode(body);
    if text.contains('\0') {
        return Err(Failure::malformed("XML in an encoding that neither a mark nor a name tells"));
    }
    let text = text.trim_start();
    let rest = text.strip_prefix("<?xml").and_then(|prolog| prolog.split_once("?>"));
    Ok(rest.map_or(text, |(_, rest)| rest).to_owned())
}

fn of_prolog(body: &[u8]) -> Option<&'static Encoding> {
    let head = String::from_utf8_lossy(&body[..body.len().min(PROLOG)]).into_owned();
    label(head.strip_prefix("<?xml")?.split_once("?>")?.0, "encoding=")
}

/// The encoding named behind a key, with or without quotes.
fn label(text: &str, key: &str) -> Option<&'static Encoding> {
    let at = text.to_ascii_lowercase().find(key)?;
    let value = text[at + key.len()..].trim_start_matches(['"', '\'']);
    let end = value.find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ';'));
    Encoding::for_label(&value.as_bytes()[..end.unwrap_or(value.len())])
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue, StatusCode, header};

    use super::*;

    fn decoded(content_type: &'static str, body: &'static [u8]) -> String {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
        let url = "http://127.0.0.1/".parse().expect("an address");
        text(&Answer { status: StatusCode::OK, headers, body: body.into(), url }).unwrap_or_default()
    }

    #[test]
    fn the_mark_goes_before_the_header_and_the_header_before_the_prolog() {
        assert_eq!(
            decoded("text/xml", b"<?xml version='1.0' encoding='ISO-8859-1'?><a>\xe9</a>"),
            "<a>é</a>"
        );
        assert_eq!(
            decoded("text/xml; charset=iso-8859-1", b"<?xml encoding=\"UTF-8\"?><a>\xe9</a>"),
            "<a>é</a>"
        );
        assert_eq!(
            decoded("text/xml; charset=ISO-8859-1", b"\xef\xbb\xbf<?xml version='1.0'?><a>\xc3\xa9</a>"),
            "<a>é</a>"
        );
        assert_eq!(decoded("text/xml", "<a>é</a>".as_bytes()), "<a>é</a>");
        assert_eq!(decoded("text/xml", b"<a>\xe9</a>"), "<a>\u{fffd}</a>");
    }

    #[test]
    fn wide_characters_need_a_mark_or_a_name() {
        let wide = |text: &str| -> &'static [u8] {
            text.bytes().flat_map(|byte| [byte, 0]).collect::<Vec<_>>().leak()
        };
        assert_eq!(decoded("text/xml; charset=utf-16le", wide("<a>b</a>")), "<a>b</a>");
        assert_eq!(decoded("text/xml", wide("<?xml version='1.0'?><a>b</a>")), "", "no text");
    }
}
