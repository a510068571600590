//! The routes that the specifications show answer as those show, with goldens.

mod chats;
mod jobs;
mod tools;

use serde_json::Value;

/// A value without what differs each time: identifiers, instants and lengths of time.
fn steady(mut value: Value) -> Value {
    settle(&mut value);
    value
}

fn settle(value: &mut Value) {
    const CHANGING: [&str; 11] = [
        "turn_id",
        "session_id",
        "call_id",
        "request_id",
        "parent_call_id",
        "latency_ms",
        "fetched_at",
        "event_time",
        "deadline",
        "duration",
        "expires_at",
    ];
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                if CHANGING.contains(&key.as_str()) && !value.is_null() && value != "" {
                    *value = format!("[{key}]").into();
                } else {
                    settle(value);
                }
            }
        }
        Value::Array(list) => list.iter_mut().for_each(settle),
        _ => {}
    }
}
