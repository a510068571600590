//! A request as the message of an RPC: path, query, body and headers, each where the proto has a field for it.

use std::sync::LazyLock;

use axum::body::Body;
use http::{header::IF_MATCH, request::Parts};
use prost_reflect::{DescriptorPool, DynamicMessage, MethodDescriptor};

use super::{asked, fixed::Row, query::Query, read::Message, tool};
use crate::{
    contract::{Refusal, descriptors},
    faces::http::sse,
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
    if let Some(tag) = asked::text(&parts.headers, &IF_MATCH, "If-Match")?
        && message.has("etag")
    {
        message = message.with_field("etag", asked::quoted(tag).unwrap_or(tag))?;
    }
    if let Some(last) = asked::text(&parts.headers, &sse::LAST_EVENT_ID, "Last-Event-ID")? {
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
