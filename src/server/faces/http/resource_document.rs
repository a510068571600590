//! The documents of this server as a protected resource, as its routes answer with them.

use axum::{
    extract::{Path, State, rejection::PathRejection},
    response::{IntoResponse, Response},
};
use http::header::{CACHE_CONTROL, CONTENT_TYPE};

use super::{header_checks::unknown_route, route::Http};
use toolwire_tool::context::ToolsetName;

/// Answers with the document of the whole; there is none where clients cannot sign in.
pub(in crate::faces) async fn answer(State(http): State<Http>) -> Response {
    respond(http.resource.as_ref().and_then(|resource| resource.document()))
}

/// Answers with the document of a toolset.
pub(in crate::faces) async fn answer_of_toolset(
    State(http): State<Http>,
    toolset: Result<Path<String>, PathRejection>,
) -> Response {
    let toolset = toolset.ok().and_then(|Path(name)| name.parse::<ToolsetName>().ok());
    let resource = http.resource.as_ref().zip(toolset);
    respond(resource.and_then(|(resource, toolset)| resource.document_of(&toolset)))
}

fn respond(document: Option<String>) -> Response {
    let Some(document) = document else { return unknown_route().into_response() };
    let headers = [(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "public, max-age=3600")];
    (headers, document).into_response()
}
