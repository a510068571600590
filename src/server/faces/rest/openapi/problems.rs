//! The responses of the document that are problems.

use serde_json::{Value, json};

/// The problems of any request, by status.
const PROBLEMS: [(&str, &str); 18] = [
    ("400", "The request is malformed: a header, the query, or a body that is not a JSON object."),
    ("401", "Credentials are missing or not accepted."),
    ("403", "The user may not, a person denied it, or host or origin are foreign."),
    ("404", "There is no such thing, or none that the user may see."),
    ("408", "The rest of the request did not come in time."),
    ("409", "The present state does not allow it."),
    ("410", "No person decided in time."),
    ("412", "What the caller knows has changed since."),
    ("413", "The body is too large."),
    ("415", "The body is not JSON."),
    ("422", "The arguments break the schema, or the key was used with others."),
    (
        "428",
        "A person must approve the call first: Location says where. Or a change lacks its precondition: If-Match.",
    ),
    ("429", "A limit is reached: Retry-After says until when."),
    ("500", "A bug, or an unexpected failure of a tool."),
    ("501", "The server does not do that."),
    ("502", "The source refused, or answered with something unreadable."),
    ("503", "A part of the service is not available now."),
    ("504", "The deadline passed."),
];

/// Adds the responses with problems to an operation.
pub(super) fn problems(responses: &mut Value) {
    for (status, _) in PROBLEMS {
        responses[status] = json!({"$ref": format!("#/components/responses/Problem{status}")});
    }
}

pub(super) fn responses() -> Value {
    let mut all = json!({});
    for (status, description) in PROBLEMS {
        let content =
            json!({"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}});
        all[format!("Problem{status}")] = json!({"description": description, "content": content});
    }
    all
}

pub(super) fn schema() -> Value {
    json!({
        "type": "object",
        "description": "What went wrong (RFC 9457).",
        "properties": {
            "type": {"type": "string", "format": "uri-reference"},
            "title": {"type": "string"},
            "status": {"type": "integer"},
            "detail": {"type": "string"},
            "instance": {"type": "string", "format": "uri-reference"},
            "code": {"type": "string", "description": "Stable, such as RATE_LIMITED."},
            "retryable": {"type": "boolean"},
            "retry_after_ms": {"type": "integer", "minimum": 0},
            "origin": {"type": "string", "enum": ["caller", "tool", "source", "service"]},
            "field_violations": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "pointer": {"type": "string"},
                        "rule": {"type": "string"},
                        "description": {"type": "string"},
                    },
                    "required": ["pointer", "description"],
                },
            },
            "attempts": {"type": "integer", "minimum": 0},
            "call_id": {"type": "string"},
            "trace_id": {"type": "string"},
        },
        "required": ["type", "title", "status", "detail", "code"],
    })
}
