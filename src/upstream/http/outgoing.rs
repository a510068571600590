//! A request to a source, before anything has been done with it.

use std::{fmt, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use url::Url;

/// A request to a source. Cheap to clone, since a retry sends it again. Shown without its query, headers and body: any
/// of them may hold a secret.
#[derive(Clone)]
pub struct Outgoing {
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    pub(super) expected: ExpectedBody,
    pub(super) accepted: Vec<StatusCode>,
    pub(super) timeout: Option<Duration>,
    pub(super) is_repeatable: bool,
}

/// What the body of an answer should be. HTML where something else was expected means that the source refuses us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedBody {
    /// JSON.
    Json,
    /// XML: feeds, XBRL.
    Xml,
    /// Plain text or CSV.
    Text,
    /// An HTML page.
    Html,
    /// Whatever comes; the body is not looked at.
    Anything,
}

impl Outgoing {
    /// A GET.
    pub fn get(url: Url, expected: ExpectedBody) -> Self {
        Self {
            method: Method::GET,
            url,
            headers: HeaderMap::new(),
            body: Bytes::new(),
            expected,
            accepted: Vec::new(),
            timeout: None,
            is_repeatable: true,
        }
    }

    /// A POST of a form. Sent once, unless it is marked as [`repeatable`](Self::repeatable).
    pub fn post_form(url: Url, fields: &[(&str, &str)], expected: ExpectedBody) -> Self {
        let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let form = HeaderValue::from_static("application/x-www-form-urlencoded");
        Self { method: Method::POST, body: body.into(), is_repeatable: false, ..Self::get(url, expected) }
            .with_header(http::header::CONTENT_TYPE, form)
    }

    /// The same request with one more header.
    pub fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// The same request, whose answers of the given status are for the connector to check.
    pub fn accepting(mut self, status: StatusCode) -> Self {
        self.accepted.push(status);
        self
    }

    /// The same request, which changes nothing at the source and may be sent again: one for a token, say.
    pub fn repeatable(self) -> Self {
        Self { is_repeatable: true, ..self }
    }

    /// The same request with its own bound on one attempt, in place of the source's.
    pub fn within(self, timeout: Duration) -> Self {
        Self { timeout: Some(timeout), ..self }
    }

    /// The GET that a redirect asks for in place of this one.
    pub(super) fn redirected(mut self, url: Url) -> Self {
        self.headers.remove(http::header::CONTENT_TYPE);
        Self { method: Method::GET, url, body: Bytes::new(), is_repeatable: true, ..self }
    }
}

impl fmt::Debug for Outgoing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = self.url.host_str().unwrap_or_default();
        f.debug_struct("Outgoing").field("method", &self.method).field("host", &host).finish_non_exhaustive()
    }
}
