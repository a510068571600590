//! A document is served only to a browser that has been on a page, which its cookie shows.

use axum::response::Response;
use http::StatusCode;

use crate::sources::embedded::{reply, request_parts::RequestParts};

/// What every page sets.
pub(super) const COOKIE: (&str, &str) = ("nsit", "embedded");
/// The page for any other client.
pub(super) const BLOCK: &str =
    "<!DOCTYPE html><html><head><title>NSE India</title></head><body>Resource not found</body></html>";

/// The answer to a client that is not a browser, or has not been on a page.
pub(super) fn refusal(asked: &RequestParts) -> Option<Response> {
    if !asked.is_browser() {
        return Some(reply::page(StatusCode::FORBIDDEN, BLOCK));
    }
    (asked.cookie(COOKIE.0) != Some(COOKIE.1)).then(|| reply::page(StatusCode::UNAUTHORIZED, BLOCK))
}
