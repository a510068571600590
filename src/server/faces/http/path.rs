//! Normalises the path of a request: characters that mean the same whether or not they are percent-encoded are not
//! encoded.
//!
//! Those are the unreserved ones (RFC 3986 §6.2.2.2), and `:`, which many clients encode within a segment though it may
//! stand there. `/mcp/` is `/mcp`, and below it likewise. Routes decode every other sequence themselves. Not here:
//! malformed sequences, which `header_checks` refuses.

use http::{Request, Uri, uri::PathAndQuery};
use percent_encoding::percent_decode_str;

/// The beginning of the paths of MCP. Many clients write a slash behind them.
const MCP: &str = "/mcp/";

/// Normalises the path of a request.
pub(super) fn normalise<B>(mut request: Request<B>) -> Request<B> {
    if let Some(uri) = normalise_uri(request.uri()) {
        *request.uri_mut() = uri;
    }
    request
}

fn normalise_uri(uri: &Uri) -> Option<Uri> {
    let path = match uri.path().strip_suffix('/').filter(|_| uri.path().starts_with(MCP)) {
        Some(path) => normalise_path(path).unwrap_or_else(|| path.to_owned()),
        None => normalise_path(uri.path())?,
    };
    let whole = match uri.query() {
        Some(query) => format!("{path}?{query}"),
        None => path,
    };
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(PathAndQuery::try_from(whole).ok()?);
    Uri::from_parts(parts).ok()
}

/// The normalised path; `None` if it is normalised already.
fn normalise_path(path: &str) -> Option<String> {
    let (plain, encoded) = path.split_once('%')?;
    let (mut spelled, pieces) = (plain.to_owned(), encoded.split('%'));
    for piece in pieces {
        match piece.get(..2).and_then(byte).filter(|byte| is_plain(*byte)) {
            Some(byte) => {
                spelled.push(byte.into());
                spelled.push_str(&piece[2..]);
            }
            None => spelled.extend(["%", piece]),
        }
    }
    (spelled.len() != path.len()).then_some(spelled)
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~:".contains(&byte)
}

fn byte(digits: &str) -> Option<u8> {
    let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_hex.then(|| u8::from_str_radix(digits, 16).ok()).flatten()
}

/// Whether every percent sign of a text begins a sequence, and the decoded text is UTF-8.
pub(super) fn is_well_encoded(text: &str) -> bool {
    let Some((_, encoded)) = text.split_once('%') else { return true };
    encoded.split('%').all(|piece| piece.get(..2).and_then(byte).is_some())
        && percent_decode_str(text).decode_utf8().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_one_spelling() {
        for (path, expected) in [
            ("/v1/tasks%3Alease", "/v1/tasks:lease"),
            ("/v1/tasks%3alease?q=%3A", "/v1/tasks:lease?q=%3A"),
            ("/v1/%74ools/get%5Fquotes%3acall", "/v1/tools/get_quotes:call"),
            ("/a%2Fb%253Ac%C3%A9%", "/a%2Fb%253Ac%C3%A9%"),
            ("/a:b", "/a:b"),
            ("/mcp/", "/mcp"),
            ("/mcp/?tags=a", "/mcp?tags=a"),
            ("/mcp/a/", "/mcp/a"),
            ("/mcp/%61/?tags=a", "/mcp/a?tags=a"),
            ("/mcp//", "/mcp/"),
            ("/mcps/", "/mcps/"),
        ] {
            let request = Request::builder().uri(path).body(()).unwrap();
            assert_eq!(normalise(request).uri().to_string(), expected, "{path}");
        }
        let absolute = Request::builder().uri("http://localhost:1/a%3Ab").body(()).unwrap();
        assert_eq!(normalise(absolute).uri().to_string(), "http://localhost:1/a:b");
    }
}
