//! The document of this server as a protected resource, as its routes answer with it.

use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use http::header::{CACHE_CONTROL, CONTENT_TYPE};

use super::{header_checks::unknown_route, route::Http};

/// Answers with the document; there is none where clients cannot sign in.
pub(in crate::faces) async fn answer(State(http): State<Http>) -> Response {
    let Some(resource) = &http.resource else { return unknown_route().into_response() };
    let headers = [(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "public, max-age=3600")];
    (headers, resource.document()).into_response()
}
