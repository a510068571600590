//! Error responses to input that is not a valid message.

use rmcp::{ErrorData, model::ErrorCode};
use serde_json::{Value, json};

/// The error for bytes that could not be read as a message.
pub(super) fn error_of(bytes: &[u8]) -> Value {
    match serde_json::from_slice::<Value>(bytes) {
        Err(error) => {
            let what = format!("this cannot be read as JSON: {error}");
            response(&Value::Null, &ErrorData::new(ErrorCode::PARSE_ERROR, what, None))
        }
        Ok(Value::Array(_)) => {
            let what = "batches are not served: send each message by itself";
            response(&Value::Null, &ErrorData::invalid_request(what, None))
        }
        Ok(message) => {
            let what = "this is no request or notification of JSON-RPC 2.0";
            response(&id_of(&message), &ErrorData::invalid_request(what, None))
        }
    }
}

/// The identifier of a message, if it has one.
pub(super) fn id_of(message: &Value) -> Value {
    message.get("id").filter(|id| id.is_string() || id.is_number()).cloned().unwrap_or_default()
}

/// The method of a message; empty if it has none.
pub(super) fn method_of(bytes: &[u8]) -> String {
    let message = serde_json::from_slice::<Value>(bytes).unwrap_or_default();
    message["method"].as_str().unwrap_or_default().to_owned()
}

/// The error for a list whose cursor is no text: rmcp would ignore it, and answer with the first page again.
pub(super) fn bad_cursor(bytes: &[u8]) -> Option<Value> {
    if !str::from_utf8(bytes).ok()?.contains("\"cursor\"") {
        return None;
    }
    let message: Value = serde_json::from_slice(bytes).ok()?;
    let cursor = message.get("params")?.get("cursor")?;
    let params = params_of("tools/list").filter(|_| message["method"] == "tools/list")?;
    let is_bad = !cursor.is_string() && !cursor.is_null();
    is_bad.then(|| response(&id_of(&message), &ErrorData::invalid_params(params, None)))
}

/// What the parameters of a method must be; `None` if it is not offered.
pub(super) fn params_of(method: &str) -> Option<&'static str> {
    Some(match method {
        "initialize" => {
            "params must hold `protocolVersion`, a text, and the objects `capabilities` and `clientInfo`"
        }
        "server/discover" | "ping" => "params must be an object",
        "subscriptions/listen" => "params must hold `notifications`, an object",
        "tools/list" => "params may hold `cursor`, a text",
        "tools/call" => "params must hold `name`, a text, and may hold `arguments`, an object",
        "tasks/get" | "tasks/cancel" => "params must hold `taskId`, a text",
        "tasks/update" => "params must hold `taskId`, a text, and `inputResponses`, an object",
        _ => return None,
    })
}

pub(super) fn response(id: &Value, error: &ErrorData) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": error})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_bytes_is_said_by_its_code() {
        for (bytes, code, id) in [
            ("{", -32700, Value::Null),
            ("[]", -32600, Value::Null),
            (r#"{"id":7,"methods":"x"}"#, -32600, json!(7)),
            ("3", -32600, Value::Null),
        ] {
            let error = error_of(bytes.as_bytes());
            assert_eq!((&error["error"]["code"], &error["id"]), (&json!(code), &id), "{bytes}");
        }
    }
}
