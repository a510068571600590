//! A request to a source, before it enters the stack.

use std::{fmt, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use url::Url;

use super::Answer;

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
    pub(super) accepted_if: Option<fn(&Answer) -> bool>,
    pub(super) timeout: Option<Duration>,
    pub(super) is_repeatable: bool,
}

/// The expected type of an answer's body. HTML in place of another type is an error, and may be a block page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedBody {
    Json,
    Xml,
    /// Plain text or CSV.
    Text,
    Html,
    /// Whatever comes; the body is not looked at.
    Anything,
}

impl Outgoing {
    pub fn get(url: Url, expected: ExpectedBody) -> Self {
        Self {
            method: Method::GET,
            url,
            headers: HeaderMap::new(),
            body: Bytes::new(),
            expected,
            accepted: Vec::new(),
            accepted_if: None,
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

    /// The same request, whose answers of the given kind are for the connector to judge.
    pub fn accepting_if(self, is_accepted: fn(&Answer) -> bool) -> Self {
        Self { accepted_if: Some(is_accepted), ..self }
    }

    /// The same request, which changes nothing at the source and may be sent again: one for a token, say.
    pub fn repeatable(self) -> Self {
        Self { is_repeatable: true, ..self }
    }

    /// The same request with its own bound on one attempt, in place of the source's.
    pub fn within(self, timeout: Duration) -> Self {
        Self { timeout: Some(timeout), ..self }
    }

    /// Whether the connector is to judge an answer itself.
    pub(super) fn accepts(&self, answer: &Answer) -> bool {
        self.accepted.contains(&answer.status) || self.accepted_if.is_some_and(|accepts| accepts(answer))
    }

    /// Whether an answer sends the request elsewhere. Redirects are followed for GET only; a form is never resent
    /// elsewhere.
    pub(super) fn is_redirected_by(&self, answer: &Answer) -> bool {
        let is_redirect = matches!(answer.status.as_u16(), 301 | 302 | 303 | 307 | 308);
        is_redirect && self.method == Method::GET && !self.accepts(answer)
    }

    /// The same request to where a redirect leads.
    pub(super) fn redirect_to(self, url: Url) -> Self {
        Self { url, ..self }
    }
}

impl fmt::Debug for Outgoing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = self.url.host_str().unwrap_or_default();
        f.debug_struct("Outgoing").field("method", &self.method).field("host", &host).finish_non_exhaustive()
    }
}
