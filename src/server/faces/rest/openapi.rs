//! The description of the face as `OpenAPI` 3.1: the routes of the table, and the tools that a user sees.
//!
//! It is a JSON value and no derived types: 3.1 takes the JSON Schemas of tools as they are, and those of messages come
//! from their descriptors. It is cached by the tools that it has, for all users who see the same ones.

mod components;
mod paths;
mod problems;
mod requests;
mod rpcs;
mod schema;
mod tools;

use std::sync::{Arc, LazyLock};

use axum::{
    body::Body,
    extract::{Request, State},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use serde_json::{Value, json};

use self::paths::Paths;
use super::{
    listing::{tag_of, with_etag},
    rpc_routes,
};
use crate::{
    faces::{
        http::{route::Http, rpc_route::RpcRoute},
        incoming,
    },
    service::{Filter, snapshot_cache::SnapshotCache},
};
use toolwire_base::digest::Digest;
use toolwire_engine::registry::{RegisteredTool, Status};

/// Estimated size of a document, in bytes.
const BYTES: usize = 512 * 1024;

/// The documents, by the tools that are in them.
static CACHE: LazyLock<SnapshotCache<Bytes>> = LazyLock::new(SnapshotCache::default);

/// Answers with the document of the tools that the user sees.
pub(super) async fn answer(State(http): State<Http>, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let listing = http.face.tools.list(&incoming::user(&parts.extensions), Filter::default());
    let snapshot = Arc::clone(listing.snapshot());
    // Tools that cannot be called are left out, as in exports.
    let is_callable = |tool: &Arc<RegisteredTool>| !matches!(tool.definition.status, Status::Disabled(_));
    let tools: Vec<_> = listing.filter(is_callable).collect();
    let tag = Digest::of_parts(tools.iter().map(|tool| tag_of(&tool.definition)));
    let make = move || {
        let rows: Vec<_> = rpc_routes::ROWS.iter().chain(&*http.rpc_routes).copied().collect();
        let document = Bytes::from(document(&tools, &rows).to_string());
        (document.len(), document)
    };
    let document = CACHE.get_or_make(&snapshot, tag, BYTES, make).await;
    with_etag(&parts.headers, &tag.to_string(), || {
        ([(CONTENT_TYPE, "application/json")], Body::from(document)).into_response()
    })
}

/// The document of these tools and of these RPCs.
fn document(tools: &[Arc<RegisteredTool>], rows: &[RpcRoute]) -> Value {
    let mut paths = Paths::default();
    let mut schemas = schema::Schemas::default();
    for tool in tools {
        tools::add(&mut paths, &tool.definition);
    }
    rpcs::add(rows, &mut paths, &mut schemas);
    components::add(&mut paths, &mut schemas);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Toolwire",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Tools for agents. A call is a POST whose body is the arguments; what fails is a problem \
                            (RFC 9457). Every path but /errors/{code} needs a user.",
        },
        "servers": [{"url": "/"}],
        "security": [{"bearer": []}, {}],
        "tags": [
            {"name": "tools", "description": "Tools: what there is, and calls."},
            {"name": "platform", "description": "Calls, confirmations, tasks, documents and jobs."},
        ],
        "paths": paths.into_value(),
        "components": {
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
            "parameters": components::parameters(),
            "responses": problems::responses(),
            "schemas": schemas.into_value(),
        },
    })
}
