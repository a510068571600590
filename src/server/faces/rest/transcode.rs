//! Converts a request to the message of an RPC: path, query, body and headers, each where the proto has a field for it.

use axum::body::Body;
use http::request::Parts;
use prost_reflect::{DynamicMessage, MessageDescriptor, MethodDescriptor};
use serde_json::{Value, json};

use super::{read::Message, request, tool};
use crate::faces::http::{
    conditional::{Conditions, Tags},
    query::Query,
    rpc_route::{ResponseForm, RpcRoute},
    sse,
};
use toolwire_contract::{Refusal, proto::POOL};

/// The field with the precondition of a write on its document.
pub(super) const PRECONDITION: &str = "precondition";

pub(super) fn method_descriptor(row: &RpcRoute) -> MethodDescriptor {
    let service = POOL.get_service_by_name(row.rpc.0).expect("the table names services of the platform");
    let method = service.methods().find(|method| method.name() == row.rpc.1);
    method.expect("the table names methods of the platform")
}

/// Whether the message of a row has a precondition on a document.
pub(super) fn has_precondition(row: &RpcRoute) -> bool {
    input(row).get_field_by_name(PRECONDITION).is_some()
}

/// The type of the message that a request for a row becomes; of the first one, if there are several.
pub(super) fn input(row: &RpcRoute) -> MessageDescriptor {
    let header = match row.form {
        ResponseForm::Upload => POOL.get_message_by_name("toolwire.workspace.v1.PutHeader"),
        _ => None,
    };
    header.unwrap_or_else(|| method_descriptor(row).input())
}

/// Converts a request to the message of its RPC.
pub(super) async fn to_message(
    row: &RpcRoute,
    path_fields: &[(String, String)],
    parts: &Parts,
    body: Body,
) -> Result<DynamicMessage, Refusal> {
    let mut message = Message::of(method_descriptor(row).input());
    // The path comes last, so that a query or a body that contradicts it is refused.
    if row.is_queried() {
        message = message.with_query(Query::any(&parts.uri).pairs())?;
    } else {
        Query::read(&parts.uri, &[])?;
        message = message.with_body(&tool::read_body(body).await?)?;
    }
    for (name, value) in path_fields {
        message = message.with_field(name, value)?;
    }
    with_headers(message, parts)?.into_dynamic()
}

/// Sets the fields that headers give, where the message has them.
pub(super) fn with_headers(mut message: Message, parts: &Parts) -> Result<Message, Refusal> {
    if let Some(key) = request::key(&parts.headers)?
        && message.has("request_id")
    {
        message = message.with_field("request_id", key)?;
    }
    if let Some(conditions) = parts.extensions.get::<Conditions>()
        && message.has(PRECONDITION)
    {
        message = message.with_value(PRECONDITION, precondition(conditions))?;
    }
    if let Some(last) = sse::last_event_id(&parts.headers)? {
        for after in ["after_sequence", "after_position"] {
            if message.has(after) {
                message = message.with_field(after, last)?;
            }
        }
    }
    // JSON text keeps the digits of numbers, which a structure does not.
    if message.has("result_format") && !message.is_set("result_format") {
        message = message.with_field("result_format", "JSON")?;
    }
    Ok(message)
}

/// Conditions as the contract has them. `If-Match` compares strongly: a weak tag matches no document.
fn precondition(conditions: &Conditions) -> Value {
    let set = |tags: &Tags, has_weak: bool| match tags {
        Tags::Any => json!({"any": true}),
        Tags::Listed(tags) => {
            let tags = tags.iter().filter(|tag| has_weak || !tag.is_weak).map(|tag| &tag.text);
            json!({"etags": tags.collect::<Vec<_>>()})
        }
    };
    let mut precondition = json!({});
    if let Some(tags) = &conditions.if_match {
        precondition["if_match"] = set(tags, false);
    }
    if let Some(tags) = &conditions.if_none_match {
        precondition["if_none_match"] = set(tags, true);
    }
    if let Some(since) = conditions.if_unmodified_since {
        precondition["if_unmodified_since"] = prost_types::Timestamp::from(since).to_string().into();
    }
    precondition
}
