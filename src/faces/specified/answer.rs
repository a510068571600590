//! A JSON value as the answer to a request.

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use http::{StatusCode, header::CONTENT_TYPE};
use serde_json::Value;

/// An answer of this status.
pub fn json(status: StatusCode, value: &Value) -> Response {
    (status, [(CONTENT_TYPE, "application/json")], Body::from(value.to_string())).into_response()
}
