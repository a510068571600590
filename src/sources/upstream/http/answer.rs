//! A source's answer: status, headers, and the whole body, which is bounded.

use std::{fmt, time::Duration};

use bytes::Bytes;
use cookie::Cookie;
use encoding_rs::{Encoding, UTF_8};
use http::{HeaderMap, StatusCode, header};
use serde::de::DeserializeOwned;
use url::Url;

use super::Failure;
use crate::upstream::json;
use toolwire_base::{retry_after, words::bytes_without_bom};

/// An answer. Shown without its headers, its body and what was asked: any of them may hold a secret.
#[derive(Clone)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    /// The body, decompressed, at most as large as the source's profile allows.
    pub body: Bytes,
    /// What was asked for.
    pub url: Url,
}

impl Answer {
    /// The body as text: by its byte order mark, which is taken off, else by the charset that its header names, else as
    /// UTF-8. What is none is replaced.
    pub fn text(&self) -> String {
        self.charset().unwrap_or(UTF_8).decode(&self.body).0.into_owned()
    }

    /// The body as JSON, without what in it cannot be read ([`json`]): within [`Client::read`](super::Client::read) the
    /// call is warned of what is lost.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        json::read(bytes_without_bom(&self.body)).map_err(|error| Failure::malformed(error.to_string()))
    }

    /// The charset that the header names, if it is a known one.
    pub fn charset(&self) -> Option<&'static Encoding> {
        let value = self.headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
        let parameters = value.split(';').skip(1).filter_map(|parameter| parameter.split_once('='));
        let mut names = parameters.filter(|(key, _)| key.trim().eq_ignore_ascii_case("charset"));
        Encoding::for_label(names.next()?.1.trim().trim_matches(['"', '\'']).as_bytes())
    }

    /// The media type without parameters, in lower case; empty without one.
    pub fn media_type(&self) -> String {
        let value = self.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        value.unwrap_or_default().split(';').next().unwrap_or_default().trim().to_lowercase()
    }

    /// Whether the body is an HTML page, whatever its headers say.
    pub fn is_html(&self) -> bool {
        let start = self.body.trim_ascii_start();
        let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).trim_ascii_start();
        let head = &start[..start.len().min(256)];
        let head = String::from_utf8_lossy(head).to_lowercase();
        head.starts_with("<!doctype html") || head.starts_with("<html") || head.starts_with("<head")
    }

    /// The target of a redirect, if it has the host, port and scheme of the request (promise 20). So no redirect leads
    /// to an address of this network, unless the configured base is one.
    pub fn redirect(&self) -> Result<Url, Failure> {
        let location = self.headers.get(header::LOCATION).and_then(|value| value.to_str().ok());
        let Some(location) = location.filter(|_| self.status.is_redirection()) else {
            return Err(Failure::malformed("a redirect that leads nowhere"));
        };
        let target = self.url.join(location).map_err(|_| Failure::malformed("a redirect to no address"))?;
        if target == self.url {
            return Err(Failure::malformed("a redirect to where it came from"));
        }
        if target.origin() != self.url.origin()
            || !target.username().is_empty()
            || target.password().is_some()
        {
            let host = target.host_str().unwrap_or_default();
            return Err(Failure::malformed(format!("a redirect to another origin, on {host:?}")));
        }
        Ok(target)
    }

    /// How long `Retry-After` asks to wait.
    pub fn retry_after(&self) -> Option<Duration> {
        retry_after::read(self.headers.get(header::RETRY_AFTER)?.to_str().ok()?)
    }

    /// The cookies that were set.
    pub fn cookies(&self) -> impl Iterator<Item = Cookie<'_>> {
        let set = self.headers.get_all(header::SET_COOKIE).iter().filter_map(|value| value.to_str().ok());
        set.filter_map(|cookie| Cookie::parse(cookie).ok())
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { status, body, .. } = self;
        f.debug_struct("Answer").field("status", status).field("bytes", &body.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, StatusCode};

    use super::{super::FailureKind, *};

    fn redirect(from: &str, to: &str) -> Result<String, Failure> {
        let headers = HeaderMap::from_iter([(header::LOCATION, to.parse().unwrap())]);
        let url = from.parse().unwrap();
        let answer = Answer { status: StatusCode::FOUND, headers, body: Bytes::new(), url };
        answer.redirect().map(String::from)
    }

    #[test]
    fn a_redirect_stays_within_the_origin() {
        for (to, target) in [
            ("/b?c", "https://example.com/b?c"),
            ("b", "https://example.com/a/b"),
            ("https://example.com:443/b", "https://example.com/b"),
            ("//example.com/b", "https://example.com/b"),
        ] {
            assert_eq!(redirect("https://example.com/a/", to).unwrap(), target);
        }
        for elsewhere in [
            "http://example.com/b",
            "https://example.com:8443/b",
            "https://example.com.evil.net/b",
            "https://example.com@evil.net/",
            "https://u:p@example.com/",
            "//169.254.169.254/latest/meta-data/",
            "http://127.0.0.1/",
            "https:\\\\evil.net\\",
            "file:///etc/passwd",
            "data:text/html,x",
        ] {
            let failure = redirect("https://example.com/a/", elsewhere).unwrap_err();
            assert_eq!(failure.kind, FailureKind::Malformed, "{elsewhere}");
        }
        assert!(redirect("http://127.0.0.1:8080/a/", "http://127.0.0.1:8080/b").is_ok());
        assert!(redirect("http://127.0.0.1:8080/a/", "http://127.0.0.1:8081/b").is_err());
    }

    #[test]
    fn an_answer_is_shown_without_what_it_says() {
        let headers = HeaderMap::from_iter([(header::SET_COOKIE, "s=s3cret".parse().unwrap())]);
        let url = "https://example.com/?crumb=s3cret".parse().unwrap();
        let answer = Answer { status: StatusCode::OK, headers, body: Bytes::from_static(b"s3cret"), url };
        assert!(!format!("{answer:?}").contains("s3cret"));
    }

    fn answering(content_type: &'static str, body: &'static [u8]) -> Answer {
        let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, content_type.parse().unwrap())]);
        let url = "https://example.com/".parse().unwrap();
        Answer { status: StatusCode::OK, headers, body: Bytes::from_static(body), url }
    }

    #[test]
    fn a_body_is_read_by_its_mark_or_else_by_the_charset_of_its_header() {
        for (content_type, body) in [
            ("text/html", &b"caf\xc3\xa9"[..]),
            ("text/html; charset=ISO-8859-1", b"caf\xe9"),
            ("text/html; x=y; Charset=\"iso-8859-1\"", b"caf\xe9"),
            ("text/html; charset=iso-8859-1", b"\xef\xbb\xbfcaf\xc3\xa9"),
            ("text/html; charset=utf-16le", b"c\0a\0f\0\xe9\0"),
            ("text/html", b"\xff\xfec\0a\0f\0\xe9\0"),
            ("text/html; charset=klingon", b"caf\xc3\xa9"),
        ] {
            assert_eq!(answering(content_type, body).text(), "café", "{content_type}");
        }
        assert_eq!(answering("text/html", b"caf\xe9").text(), "caf\u{fffd}");
    }

    #[test]
    fn json_may_have_a_mark_and_is_utf_8() {
        let name = |answer: Answer| answer.json::<Vec<String>>().map(|mut names| names.remove(0));
        let json = "application/json";
        assert_eq!(name(answering(json, b"\xef\xbb\xbf[\"caf\xc3\xa9\"]")).unwrap(), "café");
        assert_eq!(name(answering(json, b"[\"caf\xe9\"]")).unwrap(), "caf\u{fffd}");
        let wide = answering(json, b"[\0\"\0a\0\"\0]\0");
        assert_eq!(name(wide).unwrap_err().kind, FailureKind::Malformed);
    }
}
