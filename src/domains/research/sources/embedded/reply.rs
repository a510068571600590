//! Answers, by what their body is.

use axum::{body::Body, response::Response};
use http::{HeaderName, HeaderValue, StatusCode, header};
use serde_json::Value;

pub(super) const JSON: &str = "application/json; charset=utf-8";

pub(super) fn with_type(status: StatusCode, media_type: &'static str, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}

pub(super) fn json(status: StatusCode, value: &Value) -> Response {
    with_type(status, JSON, value.to_string())
}

pub(super) fn page(status: StatusCode, html: impl Into<Body>) -> Response {
    with_type(status, "text/html; charset=utf-8", html)
}

pub(super) fn text(status: StatusCode, text: impl Into<Body>) -> Response {
    with_type(status, "text/plain; charset=utf-8", text)
}

/// The same answer with one more header.
pub(super) fn with(mut response: Response, name: HeaderName, value: &str) -> Response {
    // A value that came from a request may hold what no header can.
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().append(name, value);
    }
    response
}
