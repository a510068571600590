//! A route that is an RPC: the request becomes its message, the message goes to the service within the process, and
//! what the service says becomes the answer.
//!
//! The service sees the extensions of the request that is answered: no second authentication, no second span. Not here:
//! frames (`wire`) and documents (`document`).

use std::sync::LazyLock;

use axum::{body::Body, extract::Request, response::Response};
use futures_util::StreamExt;
use http::request::Parts;
use prost_reflect::{DescriptorPool, DynamicMessage, MethodDescriptor};
use serde_json::Value;
use tonic::Status;

use super::{
    answer, asked, document,
    fixed::{Form, Row},
    message,
    query::Query,
    read::Message,
    tool, wire,
};
use crate::{
    contract::{Refusal, descriptors},
    faces::http::{problem::Problem, route::Http, sse},
};

/// The services of the platform with their comments.
pub(super) static POOL: LazyLock<DescriptorPool> =
    LazyLock::new(|| descriptors::pool([]).expect("the build script wrote valid descriptor sets"));

/// The RPC of a row.
pub(super) fn described(row: &Row) -> MethodDescriptor {
    let service = POOL.get_service_by_name(row.rpc.0).expect("the table names services of the platform");
    let found = service.methods().find(|method| method.name() == row.rpc.1);
    found.expect("the table names methods of the platform")
}

/// Answers a request for the RPC of a row, with what its path names.
pub(super) async fn answer(
    row: &Row,
    http: Http,
    named: Vec<(String, String)>,
    request: Request,
) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    match row.form {
        Form::Document => document::download(row, http, &named, &parts).await,
        Form::Upload => document::upload(row, http, &named, parts, body).await,
        Form::Events => {
            let message = asked(row, &named, &parts, body).await?;
            let responses = wire::call(http, row, &parts, wire::body(&message)).await?;
            Ok(sse::response(responses.messages(described(row).output()).map(event)))
        }
        Form::Message | Form::Free => {
            let message = asked(row, &named, &parts, body).await?;
            let responses = wire::call(http, row, &parts, wire::body(&message)).await?;
            Ok(answer::json(&message::of_dynamic(&responses.one(described(row).output()).await?)))
        }
    }
}

/// The message that a request is.
pub(super) async fn asked(
    row: &Row,
    named: &[(String, String)],
    parts: &Parts,
    body: Body,
) -> Result<DynamicMessage, Refusal> {
    let mut message = Message::of(described(row).input());
    if row.is_queried() {
        message = message.with_query(Query::any(&parts.uri).pairs())?;
    } else {
        Query::read(&parts.uri, &[])?;
        message = message.with_body(&tool::read(body).await?)?;
    }
    for (name, value) in named {
        message = message.with_field(name, value)?;
    }
    with_headers(message, parts)?.dynamic()
}

/// The same with what headers say of it, where it has a field for that.
pub(super) fn with_headers(mut message: Message, parts: &Parts) -> Result<Message, Refusal> {
    if let Some(key) = asked::key(&parts.headers)?
        && message.has("request_id")
    {
        message = message.with_field("request_id", key)?;
    }
    if let Some(tag) = asked::text(&parts.headers, "If-Match")?
        && message.has("etag")
    {
        message = message.with_field("etag", asked::quoted(tag).unwrap_or(tag))?;
    }
    if let Some(last) = asked::text(&parts.headers, sse::LAST_EVENT_ID)? {
        for after in ["after_sequence", "after_position"] {
            if message.has(after) {
                message = message.with_field(after, last)?;
            }
        }
    }
    // The exact text, unless another form is asked for.
    if message.has("result_format") && !message.says("result_format") {
        message = message.with_field("result_format", "JSON")?;
    }
    Ok(message)
}

/// A response as an event: named by its type or by what it holds, with what a reader goes on after.
fn event(response: Result<DynamicMessage, Status>) -> sse::Event {
    let response = match response {
        Ok(response) => message::of_dynamic(&response),
        Err(status) => {
            return sse::Event { id: None, event: "error", data: Problem::from(status).to_json() };
        }
    };
    let held = ["event", "entry"].into_iter().find_map(|name| response.get(name)).unwrap_or(&response);
    let id = ["sequence", "position"].into_iter().find_map(|name| held.get(name)).and_then(Value::as_u64);
    sse::Event { id: id.map(|it| it.to_string()), event: name(&response), data: response.to_string() }
}

fn name(response: &Value) -> &'static str {
    const TYPES: [&str; 9] = [
        "ADDED",
        "CHANGED",
        "REMOVED",
        "DEGRADED",
        "SYNCED",
        "DATA_CHANGED",
        "PROBLEM",
        "HEARTBEAT",
        "REQUESTED",
    ];
    const NAMES: [&str; 9] = [
        "added",
        "changed",
        "removed",
        "degraded",
        "synced",
        "data_changed",
        "problem",
        "heartbeat",
        "requested",
    ];
    const HELD: [&str; 5] = ["snapshot", "entry", "caught_up", "event", "heartbeat"];
    if let Some(word) = response.get("type").and_then(Value::as_str) {
        return TYPES.iter().position(|it| *it == word).map_or("", |at| NAMES[at]);
    }
    HELD.into_iter().find(|held| response.get(held).is_some_and(|it| !it.is_null())).unwrap_or_default()
}
