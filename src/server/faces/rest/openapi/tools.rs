//! Two operations for each tool: its call, and the events of one.

use serde_json::{Value, json};

use super::{components::of_call, paths::Paths, problems::problems};
use crate::faces::rest::message;
use toolwire_contract::proto::v1::ToolView;
use toolwire_engine::registry::{Category, Definition, Execution};

/// Adds the operations of a tool.
pub(super) fn add(paths: &mut Paths, definition: &Definition) {
    let name = &definition.name;
    let answer = json!({
        "description": "Its data.",
        "headers": {"x-toolwire-call-id": {"schema": {"type": "string"}}},
        "content": {"application/json": {"schema": result(definition)}},
    });
    let events = json!({
        "description": "Its events, of which the last is `result` or `confirmation_required`.",
        "headers": {"x-toolwire-call-id": {"schema": {"type": "string"}}},
        "content": {"text/event-stream": {}},
    });
    paths.add(&format!("/v1/tools/{name}:call"), "post", operation(definition, &name.to_string(), &answer));
    let invoke = operation(definition, &format!("invoke_{name}"), &events);
    paths.add(&format!("/v1/tools/{name}:invoke"), "post", invoke);
}

fn operation(definition: &Definition, id: &str, ok: &Value) -> Value {
    let words = message::of(&definition.wire(ToolView::Basic));
    let tags: Vec<_> = std::iter::once("tools").chain(definition.tags.iter().map(String::as_str)).collect();
    let mut operation = json!({
        "operationId": id,
        "summary": definition.title,
        "description": definition.description,
        "tags": tags,
        "parameters": of_call(definition.category != Category::Read, needs_task(definition)),
        "requestBody": {
            "required": definition.input_schema.get("required").is_some(),
            "description": "The arguments.",
            "content": {"application/json": {"schema": *definition.input_schema, "examples": examples(definition)}},
        },
        "responses": {"200": ok},
        "x-toolwire": {
            "category": words["category"],
            "consequence": words["consequence_level"],
            "requires_confirmation": definition.requires_confirmation,
            "digest": definition.digest.to_string(),
            "version": definition.version,
        },
    });
    if let Some(conditions) = &definition.approve_unless {
        operation["x-toolwire"]["approve_unless"] = conditions.clone().into();
    }
    problems(&mut operation["responses"]);
    operation
}

/// Whether a call acts on the task of its caller.
fn needs_task(definition: &Definition) -> bool {
    !matches!(definition.kind.behaviour().by, Execution::Executor | Execution::Log | Execution::Root)
}

fn examples(definition: &Definition) -> Value {
    let mut examples = json!({});
    for (at, example) in definition.examples.iter().enumerate() {
        examples[format!("example_{}", at + 1)] =
            json!({"summary": example.description, "value": example.arguments});
    }
    examples
}

fn result(definition: &Definition) -> Value {
    let mut schema = json!({
        "type": "object",
        "properties": {
            "call_id": {"type": "string"},
            "tool": {"type": "string"},
            "fetched_at": {"type": "string", "format": "date-time"},
            "data": *definition.output_schema,
            "data_text": {
                "type": "string",
                "description": "In place of `data`, if `format` is `model`, or the data is `kept` and cannot be cut in its own shape.",
            },
            "kept": {"$ref": "#/components/schemas/Kept"},
            "provenance": {"$ref": "#/components/schemas/Provenance"},
        },
        "required": ["call_id", "tool", "fetched_at", "provenance"],
    });
    if definition.untrusted {
        schema["properties"]["_meta"] = json!({"const": "USER_GENERATED_CONTENT_BELOW"});
        schema["properties"]["nonce"] = json!({"type": "string"});
    }
    schema
}
