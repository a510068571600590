//! CORS headers: the answer to a preflight request, and a note on every answer.

use http::{
    HeaderMap, HeaderValue, Method, StatusCode,
    header::{
        ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
        ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
        ACCESS_CONTROL_REQUEST_METHOD, VARY,
    },
};

use super::answer::{self, Answer};

const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, POST, PUT, PATCH, DELETE");
/// The headers that are allowed if a preflight request names none.
const HEADERS: HeaderValue = HeaderValue::from_static("authorization, content-type, idempotency-key");
const EXPOSED: HeaderValue = HeaderValue::from_static(
    "allow, etag, link, location, retry-after, warning, www-authenticate, x-toolwire-call-id, x-toolwire-trace-id, \
     x-toolwire-turn-id",
);
/// Two hours: browsers keep it for no longer.
const MAX_AGE: HeaderValue = HeaderValue::from_static("7200");

/// Whether this is a preflight request of a browser.
pub(super) fn is_preflight(method: &Method, headers: &HeaderMap) -> bool {
    method == Method::OPTIONS && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

/// The response to a preflight request, the same for every path: whether there is a route, the request itself learns.
///
/// A page that may call may send any header. Programs may too, and no list has the headers that tracing adds by itself
/// (`baggage`, `sentry-trace`). Identity is in no header that a browser adds without the page.
pub(super) fn preflight(asked: &HeaderMap) -> Answer {
    let mut answer = answer::empty(StatusCode::NO_CONTENT);
    let headers = answer.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    let mut named = asked.get_all(ACCESS_CONTROL_REQUEST_HEADERS).iter().peekable();
    if named.peek().is_none() {
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HEADERS);
    }
    for names in named {
        headers.append(ACCESS_CONTROL_ALLOW_HEADERS, names.clone());
    }
    headers.insert(ACCESS_CONTROL_MAX_AGE, MAX_AGE);
    headers.append(VARY, HeaderValue::from_static("access-control-request-headers"));
    answer
}

/// Lets the page of `origin` read an answer.
pub(super) fn allow(headers: &mut HeaderMap, origin: HeaderValue) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
    headers.append(VARY, HeaderValue::from_static("origin"));
}
