//! A route that is an RPC: the request becomes its message, the message goes to the service within the process, and
//! what the service says becomes the answer.
//!
//! The service sees the extensions of the request that is answered: no second authentication, no second span. Not here:
//! how the message is made (`transcode`), frames (`wire`) and documents (`document`).

use axum::{body::Body, extract::Request, response::Response};
use futures_util::StreamExt;
use http::request::Parts;
use prost_reflect::DynamicMessage;
use serde_json::Value;
use tonic::Status;

use super::{
    answer, document,
    fixed::{Form, Row},
    listing::unless_known,
    message, transcode, wire,
};
use crate::{
    digest::Digest,
    faces::http::{problem::Problem, route::Http, sse},
};

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
            let message = transcode::asked(row, &named, &parts, body).await?;
            let responses = wire::call(http, row, &parts, wire::body(&message)).await?;
            Ok(sse::response(responses.messages(transcode::described(row).output()).map(event)))
        }
        Form::Message | Form::Free => Ok(answer::written(&said(row, http, &named, &parts, body).await?)),
        Form::Tagged => {
            let said = said(row, http, &named, &parts, body).await?;
            let text = said.to_string();
            let tag = Digest::of_bytes(text.as_bytes()).to_string();
            Ok(unless_known(&parts.headers, &tag, || answer::text(text)))
        }
    }
}

/// The one response of an RPC.
async fn said(
    row: &Row,
    http: Http,
    named: &[(String, String)],
    parts: &Parts,
    body: Body,
) -> Result<Value, Problem> {
    let message = transcode::asked(row, named, parts, body).await?;
    let responses = wire::call(http, row, parts, wire::body(&message)).await?;
    Ok(message::of_dynamic(&responses.one(transcode::described(row).output()).await?))
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
    const TYPES: [(&str, &str); 9] = [
        ("ADDED", "added"),
        ("CHANGED", "changed"),
        ("REMOVED", "removed"),
        ("DEGRADED", "degraded"),
        ("SYNCED", "synced"),
        ("DATA_CHANGED", "data_changed"),
        ("PROBLEM", "problem"),
        ("HEARTBEAT", "heartbeat"),
        ("REQUESTED", "requested"),
    ];
    const HELD: [&str; 5] = ["snapshot", "entry", "caught_up", "event", "heartbeat"];
    if let Some(word) = response.get("type").and_then(Value::as_str) {
        return TYPES.into_iter().find(|(it, _)| *it == word).map_or("", |(_, name)| name);
    }
    HELD.into_iter().find(|held| response.get(held).is_some_and(|it| !it.is_null())).unwrap_or_default()
}
