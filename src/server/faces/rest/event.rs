//! Converts a response of a streaming RPC to an event.

use serde_json::Value;

use crate::faces::http::sse;

/// The event of a response, named by its type or its payload. Its id is the position after which a reader continues.
pub(super) fn of(response: &Value) -> sse::Event {
    let payload = ["event", "entry"].into_iter().find_map(|name| response.get(name)).unwrap_or(response);
    let id = ["sequence", "position"].into_iter().find_map(|name| payload.get(name)).and_then(position);
    sse::Event { id, event: name(response), data: response.to_string() }
}

/// The text of a position; an empty one names no event.
fn position(value: &Value) -> Option<String> {
    match value {
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        _ => None,
    }
}

fn name(response: &Value) -> &'static str {
    const TYPES: [(&str, &str); 12] = [
        ("STARTED", "started"),
        ("ENDED", "ended"),
        ("RESET", "reset"),
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
    const PAYLOADS: [&str; 5] = ["snapshot", "entry", "caught_up", "event", "heartbeat"];
    if let Some(word) = response.get("type").and_then(Value::as_str) {
        return TYPES.into_iter().find(|(it, _)| *it == word).map_or("", |(_, name)| name);
    }
    PAYLOADS.into_iter().find(|name| response.get(name).is_some_and(|it| !it.is_null())).unwrap_or_default()
}
