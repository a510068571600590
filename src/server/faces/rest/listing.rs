//! Tools listed, described and exported, with `ETag`s: an unchanged answer is a 304.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Path, Request, State, rejection::PathRejection},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use prost_reflect::ReflectMessage;
use serde_json::json;

use super::{answer, definitions, read::Message, tool::tool_segment};
use crate::{
    faces::{
        http::{chunks, conditional::Conditions, problem::Problem, query::Query, route::Http},
        incoming,
    },
    service::{export::ExportRequest, request::refuse, shared_export::Exported},
};
use toolwire_base::digest::Digest;
use toolwire_contract::proto::v1::{ListToolsRequest, ToolView};
use toolwire_engine::registry::{Definition, RegisteredTool, Status};

const MAX_PAGE: u32 = 1_000;

/// The user's tools that pass the filters of `ListTools`, from the one after `cursor`, at most `limit`.
pub(super) async fn list(State(http): State<Http>, request: Request) -> Result<Response, Problem> {
    let (parts, _) = request.into_parts();
    let query = Query::any(&parts.uri);
    let (cursor, limit) = (query.one("cursor")?, query.number("limit")?.unwrap_or(MAX_PAGE));
    if !(1..=MAX_PAGE).contains(&limit) {
        return Err(refuse("limit", "range", &format!("must be 1 to {MAX_PAGE}")).into());
    }
    let filters = query.pairs().filter(|(name, _)| !matches!(*name, "cursor" | "limit"));
    let request: ListToolsRequest =
        Message::of(ListToolsRequest::default().descriptor()).with_query(filters)?.read()?;
    let view = request.view();
    let user = incoming::user(&parts.extensions);
    let mut tools = http.face.tools.list(&user, incoming::filter(request)?);
    let (mut page, mut tags, mut next) = (Vec::<Arc<RegisteredTool>>::new(), Vec::new(), None);
    while let Some(tool) = tools.next_tool() {
        let definition = &tool.definition;
        if definition.name.as_str() <= cursor {
            continue;
        }
        if page.len() == limit as usize {
            next = page.last().map(|last| last.definition.name.to_string());
            break;
        }
        tags.push(tag_of(definition));
        page.push(Arc::clone(tool));
    }
    // The page is known by its definitions, in whatever state of the registry.
    tags.extend([format!("{view:?}"), next.clone().unwrap_or_default()]);
    let tag = Digest::of_parts(&tags).to_string();
    definitions::serialise(&page, view).await;
    Ok(with_etag(&parts.headers, &tag, || answer::text(page_body(&page, view, next.as_deref()))))
}

/// A page of definitions, in the bytes that every reader of them gets.
fn page_body(page: &[Arc<RegisteredTool>], view: ToolView, next: Option<&str>) -> Body {
    let mut parts = Vec::with_capacity(2 * page.len() + 2);
    parts.push(Bytes::from_static(br#"{"tools":["#));
    for (index, tool) in page.iter().enumerate() {
        if index > 0 {
            parts.push(Bytes::from_static(b","));
        }
        parts.push(definitions::json(&tool.definition, view));
    }
    parts.push(format!(r#"],"next_cursor":{}}}"#, json!(next)).into());
    chunks::body(parts)
}

/// One tool. Its tag is the digest of its definition, which binds a call by `If-Match`, and its status.
pub(super) async fn one(
    State(http): State<Http>,
    path: Result<Path<String>, PathRejection>,
    request: Request,
) -> Result<Response, Problem> {
    let (parts, _) = request.into_parts();
    let name = tool_segment(path)?;
    Query::read(&parts.uri, &[])?;
    let tool = http.face.tools.get(
        &incoming::user(&parts.extensions),
        incoming::origin(&parts.extensions),
        &name,
    )?;
    let render = || answer::text(definitions::json(&tool.definition, ToolView::Full));
    Ok(with_etag(&parts.headers, &tag_of(&tool.definition), render))
}

/// The user's tools as a provider of models declares them, with what is to be noted.
pub(super) async fn export(
    State(http): State<Http>,
    path: Result<Path<String>, PathRejection>,
    request: Request,
) -> Result<Response, Problem> {
    let (parts, _) = request.into_parts();
    let query = Query::read(&parts.uri, &["strict", "tags"])?;
    let request =
        ExportRequest { format: tool_segment(path)?, strict: query.flag("strict")?, tags: query.all("tags") };
    let export = http.face.tools.export(&incoming::user(&parts.extensions), request).await?;
    Ok(with_etag(&parts.headers, &export.digest.to_string(), || {
        let notes = format!(r#","notes":{}}}"#, json!(export.export.notes));
        let json = Bytes::from_owner(Json(export));
        answer::text(chunks::body(vec![Bytes::from_static(br#"{"export":"#), json, notes.into()]))
    }))
}

/// The text of an export, shared with its other readers.
struct Json(Arc<Exported>);

impl AsRef<[u8]> for Json {
    fn as_ref(&self) -> &[u8] {
        self.0.export.json.as_bytes()
    }
}

/// Adds the `ETag` to an answer, or answers 304 in its place if the client has it already.
pub(super) fn with_etag(headers: &HeaderMap, tag: &str, answer: impl FnOnce() -> Response) -> Response {
    let tag = format!("\"{tag}\"");
    let mut response =
        if Conditions::spare(headers, &tag) { StatusCode::NOT_MODIFIED.into_response() } else { answer() };
    let headers = response.headers_mut();
    headers.insert(header::ETAG, HeaderValue::try_from(tag).expect("a tag is made of letters and digits"));
    // The answer is one user's own, who may share the machine. Clients that keep it themselves use the tag.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// The tag of a definition with its status. It begins with the definition's digest, which binds calls.
pub(super) fn tag_of(definition: &Definition) -> String {
    match &definition.status {
        Status::Ready => definition.digest.to_string(),
        Status::Degraded(why) => format!("{}.degraded-{}", definition.digest, short_digest(why)),
        Status::Disabled(why) => format!("{}.disabled-{}", definition.digest, short_digest(why)),
    }
}

fn short_digest(text: &str) -> String {
    Digest::of_bytes(text.as_bytes()).to_string().chars().take(16).collect()
}
