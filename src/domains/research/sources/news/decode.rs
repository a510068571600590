//! A feed's bytes as text: by its byte order mark, else the encoding its header names, else the one its prolog names.

use encoding_rs::{Encoding, UTF_8};
use http::header;

use crate::upstream::http::Answer;

/// So far into a feed a prolog is looked for.
const PROLOG: usize = 200;

/// The text, without the prolog: what that says of the encoding no longer holds.
pub(super) fn text(answer: &Answer) -> String {
    let body = answer.body.trim_ascii_start();
    let named = of_header(answer).or_else(|| of_prolog(body));
    // A byte order mark is heeded first, and taken off.
    let (text, ..) = named.unwrap_or(UTF_8).decode(body);
    let text = text.trim_start();
    let rest = text.strip_prefix("<?xml").and_then(|prolog| prolog.split_once("?>"));
    rest.map_or(text, |(_, rest)| rest).to_owned()
}

fn of_header(answer: &Answer) -> Option<&'static Encoding> {
    let value = answer.headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
    label(value, "charset=")
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
    use http::{HeaderMap, HeaderValue, StatusCode};

    use super::*;

    fn decoded(content_type: &'static str, body: &'static [u8]) -> String {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
        let url = "http://127.0.0.1/".parse().expect("an address");
        text(&Answer { status: StatusCode::OK, headers, body: body.into(), url })
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
}
