//! What many operations have in common, and the operations that are neither tools nor RPCs.

use serde_json::{Value, json};

use super::{Paths, rpcs, schema::Schemas};

/// What can go wrong with any request, by status.
const PROBLEMS: [(&str, &str); 18] = [
    ("400", "The request is malformed: a header, the query, or what is no JSON object."),
    ("401", "Credentials are missing or not accepted."),
    ("403", "The user may not, a person denied it, or host or origin are foreign."),
    ("404", "There is no such thing, or none that the user may see."),
    ("408", "The rest of the request did not come in time."),
    ("409", "The present state does not allow it."),
    ("410", "No person decided in time."),
    ("412", "What the caller knows has changed since."),
    ("413", "The body is too large."),
    ("415", "The body is no JSON."),
    ("422", "The arguments break the schema, or the key was used with others."),
    ("428", "A person must approve the call first: Location says where."),
    ("429", "A limit is reached: Retry-After says until when."),
    ("500", "A bug, or an unexpected failure of a tool."),
    ("501", "The server does not do that."),
    ("502", "The source refused, or answered with something unreadable."),
    ("503", "A part of the service is not available now."),
    ("504", "The deadline passed."),
];

/// The answers with problems, for any operation.
pub(super) fn problems(responses: &mut Value) {
    for (status, _) in PROBLEMS {
        responses[status] = json!({"$ref": format!("#/components/responses/Problem{status}")});
    }
}

/// Those answers, once.
pub(super) fn responses() -> Value {
    let mut all = json!({});
    for (status, description) in PROBLEMS {
        let content =
            json!({"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}});
        all[format!("Problem{status}")] = json!({"description": description, "content": content});
    }
    all
}

/// The headers that calls take.
pub(super) fn parameters() -> Value {
    let header = |name: &str, schema: Value, description: &str| json!({"name": name, "in": "header", "required": false, "schema": schema, "description": description});
    let uuid = json!({"type": "string", "format": "uuid"});
    let text = json!({"type": "string", "maxLength": 128});
    let tag = json!({"type": "string", "pattern": "^(\\*|\"[0-9a-f]{64}([.][a-z]+-[0-9a-f]+)?\")$"});
    let length = json!({"type": "string", "pattern": "^[0-9]+(ms|s|m)$"});
    json!({
        "IdempotencyKey": header("Idempotency-Key", uuid, "Recognises a repeat. Required for what does not only read."),
        "IfMatch": header("If-Match", tag, "The tag of the definition that the call is bound to."),
        "TaskId": header("x-toolwire-task-id", text.clone(), "The task on whose behalf the call is made."),
        "SessionId": header("x-toolwire-session-id", text, "The caller's session."),
        "Timeout": header("x-toolwire-timeout", length.clone(), "How long the caller waits."),
        "Wait": header("x-toolwire-wait-for-confirmation", length, "How long to wait for a person."),
        "Format": {
            "name": "format", "in": "query", "required": false, "schema": {"type": "string", "enum": ["json", "model"]},
            "description": "The form of the data: `model` is text for a language model, at most `max_tokens` long.",
        },
        "MaxTokens": {
            "name": "max_tokens", "in": "query", "required": false,
            "schema": {"type": "integer", "minimum": 256, "maximum": 1_000_000},
            "description": "The most tokens of text for a model.",
        },
    })
}

/// References to the headers and the query of a call.
pub(super) fn of_call() -> Value {
    let names =
        ["IdempotencyKey", "IfMatch", "TaskId", "SessionId", "Timeout", "Wait", "Format", "MaxTokens"];
    names.map(|name| json!({"$ref": format!("#/components/parameters/{name}")})).to_vec().into()
}

/// The operations that are neither tools nor RPCs, and the schemas that all have in common.
pub(super) fn add(paths: &mut Paths, schemas: &mut Schemas) {
    schemas.put("Problem", problem());
    schemas.put("Provenance", provenance());
    let definition = schemas.of("toolwire.v1.ToolDefinition");
    let listed = json!({
        "type": "object",
        "properties": {"tools": {"type": "array", "items": definition}, "next_cursor": {"type": ["string", "null"]}},
        "required": ["tools", "next_cursor"],
    });
    let query = |name: &str, schema: Value, description: &str| json!({"name": name, "in": "query", "required": false, "schema": schema, "description": description});
    let text = || json!({"type": "string"});
    let tags = || {
        query("tags", json!({"type": "array", "items": {"type": "string"}, "maxItems": 32}), "All of these.")
    };
    let mut filters = rpcs::queried("toolwire.v1.ListToolsRequest", schemas);
    filters.push(query("cursor", text(), "Where the last page ended: its `next_cursor`."));
    let limit = json!({"type": "integer", "minimum": 1, "maximum": 1_000});
    filters.push(query("limit", limit, "At most so many."));
    paths.add(
        "/v1/tools",
        "get",
        read("list_tools", "The tools that the user may call.", &filters.into(), &listed),
    );
    let name = |name: &str, what: &str| json!([{"name": name, "in": "path", "required": true, "schema": {"type": "string"}, "description": what}]);
    let one =
        read("get_tool", "One tool.", &name("tool", "Its name."), &schemas.of("toolwire.v1.ToolDefinition"));
    paths.add("/v1/tools/{tool}", "get", one);
    let mut asked = name("format", "The provider's form.");
    asked[0]["schema"]["enum"] =
        json!(["gemini", "gemini-openapi", "openai", "openai-responses", "anthropic", "mcp"]);
    let rest =
        [query("strict", json!({"type": "boolean"}), "In the strict form, where there is one."), tags()];
    asked.as_array_mut().into_iter().for_each(|it| it.extend(rest.clone()));
    let exported = json!({
        "type": "object",
        "properties": {"export": {}, "notes": {"type": "array", "items": {"type": "string"}}},
        "required": ["export", "notes"],
    });
    let export = read("export_tools", "The tools as a provider of models declares them.", &asked, &exported);
    paths.add("/v1/exports/{format}", "get", export);
    let page = json!({
        "operationId": "explain_error",
        "summary": "What a code means, and what to do.",
        "tags": ["platform"],
        "security": [{}],
        "parameters": name("code", "The code of a problem."),
        "responses": {
            "200": {"description": "The page.", "content": {"text/plain": {"schema": {"type": "string"}}}},
            "404": {"$ref": "#/components/responses/Problem404"},
        },
    });
    paths.add("/errors/{code}", "get", page);
}

fn read(id: &str, summary: &str, parameters: &Value, schema: &Value) -> Value {
    let ok = json!({
        "description": "What was asked for.",
        "headers": {"ETag": {"schema": {"type": "string"}}},
        "content": {"application/json": {"schema": schema}},
    });
    let mut operation = json!({
        "operationId": id,
        "summary": summary,
        "tags": ["tools"],
        "parameters": parameters,
        "responses": {"200": ok, "304": {"description": "Nothing has changed."}},
    });
    problems(&mut operation["responses"]);
    operation
}

fn problem() -> Value {
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

fn provenance() -> Value {
    json!({
        "type": "object",
        "description": "Where data came from.",
        "properties": {
            "source_ids": {"type": "array", "items": {"type": "string"}},
            "as_of": {"type": "string"},
            "from_cache": {"type": "boolean"},
            "age": {"type": "string"},
            "warnings": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["source_ids", "as_of", "from_cache", "warnings"],
    })
}
