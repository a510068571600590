//! Who gets a document: a browser that has been on a page, which its cookie shows.

use axum::response::Response;
use http::StatusCode;

use crate::sources::embedded::{asked::Asked, reply};

/// What every page sets.
pub(super) const COOKIE: (&str, &str) = ("nsit", "embedded");
/// What everybody else sees.
pub(super) const BLOCK: &str =
    "<!DOCTYPE html><html><head><title>NSE India</title></head><body>Resource not found</body></html>";

/// The answer to a client that is not a browser, or has not been on a page.
pub(super) fn refusal(asked: &Asked) -> Option<Response> {
    if !asked.is_browser() {
        return Some(reply::page(StatusCode::FORBIDDEN, BLOCK));
    }
    (asked.cookie(COOKIE.0) != Some(COOKIE.1)).then(|| reply::page(StatusCode::UNAUTHORIZED, BLOCK))
}
