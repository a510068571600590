//! What was asked, apart from the path: the query, the headers, the cookies.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use cookie::Cookie;
use http::{HeaderMap, HeaderName, header, request::Parts};
use url::form_urlencoded;

/// The query and the headers of a request.
pub(super) struct RequestParts {
    query: Vec<(String, String)>,
    headers: HeaderMap,
}

impl<S: Sync> FromRequestParts<S> for RequestParts {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let query = parts.uri.query().unwrap_or_default();
        let query = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        Ok(Self { query, headers: parts.headers.clone() })
    }
}

impl RequestParts {
    /// The first value of a parameter that is not empty.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let found = self.query.iter().find(|(key, value)| key == name && !value.is_empty());
        found.map(|(_, value)| value.as_str())
    }

    /// Every value of a parameter.
    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.query.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// A parameter as a number, if it is one.
    pub(super) fn number<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.get(name)?.parse().ok()
    }

    /// A header; empty without one.
    pub(super) fn header(&self, name: HeaderName) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// A cookie that is not empty.
    pub(super) fn cookie(&self, name: &str) -> Option<&str> {
        let cookies = Cookie::split_parse(self.header(header::COOKIE)).filter_map(Result::ok);
        cookies
            .filter(|cookie| cookie.name() == name)
            .find_map(|cookie| cookie.value_raw().filter(|it| !it.is_empty()))
    }

    /// Whether the client is a browser, by its own account.
    pub(super) fn is_browser(&self) -> bool {
        self.header(header::USER_AGENT).starts_with("Mozilla/")
    }
}
