//! Error responses to input that is not a valid message.

use rmcp::{ErrorData, model::ErrorCode};
use serde_json::{Value, json};

/// The error for bytes that could not be read as a message.
pub(super) fn error_of(bytes: &[u8]) -> Value {
    match serde_json::from_slice::<Value>(bytes) {
        Err(error) => {
            let what = format!("this is no JSON: {error}");
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
