//! The components that many operations share, and the operations that are neither tools nor RPCs.

use serde_json::{Value, json};

use super::{
    paths::Paths,
    problems::{self, problems},
    requests::{LENGTH, TASK},
    rpcs,
    schema::Schemas,
};
use toolwire_contract::proto::POOL;

/// The pattern of names of tools, formats and codes.
const NAME: &str = "^[A-Za-z][A-Za-z0-9_]*$";

/// The headers that calls take.
pub(super) fn parameters() -> Value {
    let header =
        |name: &str, schema: Value, description: &str| parameter("header", name, &schema, description);
    let uuid = json!({"type": "string", "format": "uuid"});
    let text = json!({"type": "string", "maxLength": 128});
    let tag = json!({"type": "string", "pattern": "^(\\*|\"[0-9a-f]{64}([.][a-z]+-[0-9a-f]+)?\")$"});
    let tags = json!({"type": "string", "pattern": "^(\\*|(W/)?\"[!#-~]*\"( *, *(W/)?\"[!#-~]*\")*)$"});
    let length = json!({"type": "string", "pattern": LENGTH, "examples": ["1500ms", "2s"]});
    let key = header(
        "Idempotency-Key",
        uuid,
        "Recognises a repeat: a UUID made by the caller, the same for a repeat.",
    );
    let task = header("x-toolwire-task-id", text.clone(), "The task on whose behalf the call is made.");
    json!({
        "RequiredKey": make_required(key.clone()),
        "IdempotencyKey": key,
        "IfMatch": header("If-Match", tag, "The tag of the definition that the call is bound to."),
        "IfMatchDocument": header("If-Match", tags.clone(), "The document must have one of these tags."),
        "IfNoneMatchDocument": header("If-None-Match", tags, "It must have none of them; `*`: there must be none."),
        "RequiredTask": make_required(of_task(task.clone())),
        "TaskId": task,
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
        "KeepOverTokens": {
            "name": "keep_over_tokens", "in": "query", "required": false,
            "schema": {"type": "integer", "minimum": 256, "maximum": 1_000_000},
            "description": "Data of more tokens than this is kept for the tool `read_result`, and shown in part.",
        },
    })
}

/// References to the headers and the query parameters of a call.
pub(super) fn of_call(needs_key: bool, needs_task: bool) -> Value {
    let key = if needs_key { "RequiredKey" } else { "IdempotencyKey" };
    let task = if needs_task { "RequiredTask" } else { "TaskId" };
    let names =
        [key, "IfMatch", task, "SessionId", "Timeout", "Wait", "Format", "MaxTokens", "KeepOverTokens"];
    names.map(|name| json!({"$ref": format!("#/components/parameters/{name}")})).to_vec().into()
}

/// Narrows a parameter to the names of tasks.
fn of_task(mut parameter: Value) -> Value {
    parameter["schema"] = json!({"type": "string", "pattern": TASK});
    parameter
}

fn make_required(mut parameter: Value) -> Value {
    parameter["required"] = true.into();
    parameter
}

/// Adds the operations that are neither tools nor RPCs, and the schemas that all operations share.
pub(super) fn add(paths: &mut Paths, schemas: &mut Schemas) {
    schemas.put("Problem", problems::schema());
    schemas.put("Provenance", provenance());
    schemas.put("Kept", kept());
    paths.add("/v1/tools", "get", list_tools(schemas));
    paths.add("/v1/tools/{tool}", "get", get_tool(schemas));
    paths.add("/v1/tools/{tool}:explain", "post", explain_call(schemas));
    paths.add("/v1/exports/{format}", "get", export_tools());
    paths.add("/v1/events", "get", watch_page());
    paths.add("/v1/console", "get", describe_console());
    paths.add("/errors/{code}", "get", explain_error());
}

fn list_tools(schemas: &mut Schemas) -> Value {
    let definition = schemas.of("toolwire.v1.ToolDefinition");
    let listed = json!({
        "type": "object",
        "properties": {"tools": {"type": "array", "items": definition}, "next_cursor": {"type": ["string", "null"]}},
        "required": ["tools", "next_cursor"],
    });
    let request =
        POOL.get_message_by_name("toolwire.v1.ListToolsRequest").expect("a message of the platform");
    let mut parameters = rpcs::query_parameters(&request, &[], schemas);
    let text = json!({"type": "string"});
    parameters.push(in_query("cursor", &text, "Where the last page ended: its `next_cursor`."));
    let limit = json!({"type": "integer", "minimum": 1, "maximum": 1_000});
    parameters.push(in_query("limit", &limit, "At most so many."));
    read("ListTools", "The tools that the user may call.", &parameters.into(), &listed)
}

fn get_tool(schemas: &mut Schemas) -> Value {
    let definition = schemas.of("toolwire.v1.ToolDefinition");
    read("GetTool", "One tool.", &json!([in_path("tool", "Its name.")]), &definition)
}

fn explain_call(schemas: &mut Schemas) -> Value {
    let explanation = schemas.of("toolwire.v1.ExplainCallResponse");
    let mut operation = json!({
        "operationId": "ExplainCall",
        "summary": "What a call of the tool with these arguments would come to now. It is not made.",
        "tags": ["tools"],
        "parameters": [
            in_path("tool", "Its name."),
            {"$ref": "#/components/parameters/SessionId"},
            {"$ref": "#/components/parameters/IfMatch"},
            {"$ref": "#/components/parameters/Timeout"},
        ],
        "requestBody": {
            "required": false,
            "description": "The arguments.",
            "content": {"application/json": {"schema": {"type": "object"}}},
        },
        "responses": {"200": {
            "description": "What it would come to.",
            "content": {"application/json": {"schema": explanation}},
        }},
    });
    problems(&mut operation["responses"]);
    operation
}

fn export_tools() -> Value {
    let mut format = in_path("format", "The provider's form.");
    format["schema"] = json!({"type": "string", "enum": ["gemini", "gemini-openapi", "openai", "openai-responses", "anthropic", "mcp"]});
    let strict = in_query("strict", &json!({"type": "boolean"}), "In the strict form, where there is one.");
    let tags = json!({"type": "array", "items": {"type": "string"}, "maxItems": 32});
    let parameters = json!([format, strict, in_query("tags", &tags, "All of these.")]);
    let exported = json!({
        "type": "object",
        "properties": {"export": {}, "notes": {"type": "array", "items": {"type": "string"}}},
        "required": ["export", "notes"],
    });
    read("ExportTools", "The tools as a provider of models declares them.", &parameters, &exported)
}

fn watch_page() -> Value {
    let text = json!({"type": "string"});
    let topics = "calls, confirmations, tools, providers, stats, tasks: those that are wanted, with commas; default all.";
    let mut operation = json!({
        "operationId": "WatchPage",
        "summary": "What a page watches, as one stream.",
        "tags": ["platform"],
        "parameters": [
            in_query("topics", &text, topics),
            in_query("user_id", &text, "Whose calls and statistics, as in ListCalls."),
            parameter("header", "Last-Event-ID", &text, "The id of the last event that was taken."),
            {"$ref": "#/components/parameters/Timeout"},
        ],
        "responses": {"200": {
            "description": "Events as they come; the data of each is JSON.",
            "content": {"text/event-stream": {}},
        }},
    });
    problems(&mut operation["responses"]);
    operation
}

fn describe_console() -> Value {
    json!({
        "operationId": "DescribeConsole",
        "summary": "How a page signs its users in, and where this server is.",
        "tags": ["platform"],
        "security": [{}],
        "responses": {
            "200": {"description": "The document.", "content": {"application/json": {"schema": {"type": "object"}}}},
        },
    })
}

fn explain_error() -> Value {
    json!({
        "operationId": "ExplainError",
        "summary": "What a code means, and what to do.",
        "tags": ["platform"],
        "security": [{}],
        "parameters": [in_path("code", "The code of a problem.")],
        "responses": {
            "200": {"description": "The page.", "content": {"text/plain": {"schema": {"type": "string"}}}},
            "404": {"$ref": "#/components/responses/Problem404"},
        },
    })
}

fn in_query(name: &str, schema: &Value, description: &str) -> Value {
    parameter("query", name, schema, description)
}

fn in_path(name: &str, description: &str) -> Value {
    make_required(parameter("path", name, &json!({"type": "string", "pattern": NAME}), description))
}

/// An optional parameter.
fn parameter(place: &str, name: &str, schema: &Value, description: &str) -> Value {
    json!({
        "name": name,
        "in": place,
        "required": false,
        "schema": schema,
        "description": description,
    })
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

fn kept() -> Value {
    json!({
        "type": "object",
        "description": "That the data is kept whole and the answer holds a part of it: the tool `read_result` reads on.",
        "properties": {
            "call_id": {"type": "string"},
            "tokens": {"type": "integer"},
            "expires_at": {"type": "string", "format": "date-time"},
        },
        "required": ["call_id", "tokens", "expires_at"],
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
