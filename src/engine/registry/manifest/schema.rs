//! The JSON Schema of a manifest, so that editors complete and check it while it is written.
//!
//! It says what the reader beside it accepts of one file, word lists and constraints out of the same tables. What only
//! start-up knows (messages, executors, other manifests) it does not check.

use serde_json::{Map, Value, json};

use crate::registry::{
    declared::{CONSTRAINTS, FIELD_NAME, Form, KINDS},
    routing::{FEWEST, LONGEST, MOST},
    words::{CacheScope, CacheTier, Category, ConsequenceLevel, ExtractKind, MemoryScope, ToolType},
};
use toolwire_base::duration;

/// The names that a tool may have.
const TOOL_NAME: &str = "^[a-z][a-z0-9_]{0,63}$";
/// A text that is not blank.
const NOT_BLANK: &str = r"\S";
/// MAJOR.MINOR.PATCH with an optional pre-release and build, as semver.org recommends to match it.
const SEMANTIC_VERSION: &str = r"^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?$";

/// The schema of `data/tools/<name>.json` (JSON Schema 2020-12).
pub fn manifest_schema() -> Value {
    let mut properties = Map::new();
    for part in [identity(), meaning(), schemas(), behaviour(), words_for_people()] {
        properties.extend(part);
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Toolwire tool manifest",
        "description": "Declares one tool: what its protobuf messages cannot say. See docs/MANIFEST.md.",
        "type": "object",
        "properties": properties,
        "required": ["description", "type", "category", "consequence_level", "requires_confirmation"],
        "oneOf": [
            {"required": ["name"], "properties": {"tool_id": false}},
            {"required": ["tool_id"], "properties": {"name": false}}
        ],
        "allOf": [typed_by_message("input", "parameters", "input_field"), typed_by_message("output", "returns", "output_field")],
        "additionalProperties": false,
        "$defs": definitions()
    })
}

fn identity() -> Map<String, Value> {
    object(json!({
        "$schema": text("The address of this schema, for editors. Toolwire ignores it."),
        "name": {"type": "string", "pattern": TOOL_NAME, "description": "The tool's name. The file is called <name>.json."},
        "tool_id": {"type": "string", "pattern": TOOL_NAME, "description": "Another word for `name`."},
        "title": text("A short name for people."),
        "version": {"type": "string", "pattern": SEMANTIC_VERSION, "description": "The version of the tool, such as 1.0.0."}
    }))
}

fn meaning() -> Map<String, Value> {
    object(json!({
        "description": text("What a model reads to choose the tool: what it returns, when to use it, when not."),
        "type": words(ToolType::ALL.iter().map(|word| word.word()), "How a call is carried out. Only function_tool executes code."),
        "category": words(Category::ALL.iter().map(|word| word.word()), "What a call may change. Anything but `read` needs a request_id."),
        "consequence_level": words(ConsequenceLevel::ALL.iter().map(|word| word.word()), "The impact of a call on the real world."),
        "requires_confirmation": flag("Whether a person must approve each call first."),
        "tags": texts("Words to filter by."),
        "intents": texts("Intents that are routed to this tool. No other tool may have them."),
        "utterances": texts("Questions of users that this tool answers."),
        "keywords": keywords(),
        "examples": {
            "type": "array",
            "description": "Calls that are valid. Start-up checks them against the schema.",
            "items": {
                "type": "object",
                "properties": {
                    "description": text("What the call asks for."),
                    "arguments": {"type": "object", "description": "The arguments of the call."}
                },
                "required": ["description", "arguments"],
                "additionalProperties": false
            }
        },
        "depends_on": texts("The tools that this one calls.")
    }))
}

fn keywords() -> Value {
    json!({
        "type": "array",
        "items": {"type": "string", "pattern": NOT_BLANK, "maxLength": LONGEST},
        "minItems": FEWEST,
        "maxItems": MOST,
        "description": "Phrases of questions that this tool answers and those beside it do not; for planners without a model."
    })
}

fn schemas() -> Map<String, Value> {
    object(json!({
        "input": text("Full name of the protobuf message of the arguments. Types and structure come from it."),
        "output": text("Full name of the protobuf message of the result."),
        "parameters": {"type": "object", "description": "Constraints on the arguments; without `input` their whole schema."},
        "returns": {"type": "object", "description": "Constraints on the result; without `output` its whole schema."}
    }))
}

fn behaviour() -> Map<String, Value> {
    object(json!({
        "timeout_ms": {"type": "integer", "minimum": 1, "default": 15_000, "description": "The bound on one execution in milliseconds."},
        "source": {
            "type": "object",
            "description": "Where the data comes from. Limits and cool-downs belong to sources.",
            "properties": {
                "name": text("The source's name."),
                "sections": texts("The parts of the source, or of its data, without which the tool cannot answer.")
            },
            "required": ["name"],
            "additionalProperties": false
        },
        "cache": cache(),
        "untrusted": flag("Whether results contain text that people outside wrote."),
        "idempotent": flag("Whether a call that is carried out again, with the same arguments, changes nothing more."),
        "contained": flag("Whether everything that a call changes stays within the tree of its task."),
        "agent": {"type": "string", "pattern": TOOL_NAME, "description": "The role of the agent that calls are delegated to. For agent_as_tool, and only for that."},
        "memory": words(MemoryScope::ALL.iter().map(|word| word.word()), "For whom the `note` of a call is remembered. For non_function_tool, and only for that."),
        "upstream": false
    }))
}

fn cache() -> Value {
    let length = json!({
        "description": "How long a result is fresh: seconds, or a text such as 500ms, 90s, 15m, 24h.",
        "anyOf": [
            {"type": "integer", "minimum": 1},
            {"type": "string", "pattern": duration::PATTERN, "not": {"pattern": "^[0.]+ *[a-z]+$"}}
        ]
    });
    json!({
        "type": "object",
        "description": "How results are cached. Only a `read` may have it.",
        "properties": {
            "ttl": length,
            "ttl_s": length,
            "tier": words(CacheTier::ALL.iter().map(|word| word.word()), "Where results are kept."),
            "scope": words(CacheScope::ALL.iter().map(|word| word.word()), "Whether one user's result may answer another. Default user.")
        },
        "required": ["tier"],
        "oneOf": [
            {"required": ["ttl"], "properties": {"ttl_s": false}},
            {"required": ["ttl_s"], "properties": {"ttl": false}}
        ],
        "additionalProperties": false
    })
}

fn words_for_people() -> Map<String, Value> {
    object(json!({
        "guidance": texts("Lines for a planner's system prompt. One that begins with `Prioritize:` is about the choice among tools."),
        "progress": text("What is said when a call begins, with {parameters} in braces."),
        "proposal": text("The call as an order, with {parameters} in braces: what the embedded planner asks about before it changes something."),
        "summary": text("What is said of a result, with {fields} in braces.")
    }))
}

/// Where a message gives the types, a field states constraints only; otherwise its type is required.
fn typed_by_message(message: &str, fields: &str, with_message: &str) -> Value {
    let each = |definition: &str| json!({"properties": {fields: {"additionalProperties": {"$ref": format!("#/$defs/{definition}")}}}});
    let own = json!({"properties": {fields: {
        "propertyNames": {"pattern": FIELD_NAME},
        "additionalProperties": {"$ref": format!("#/$defs/own_{with_message}")}
    }}});
    json!({"if": {"required": [message]}, "then": each(with_message), "else": own})
}

fn definitions() -> Value {
    json!({
        "input_field": field(true, true),
        "output_field": field(false, true),
        "own_input_field": own_field(true),
        "own_output_field": own_field(false)
    })
}

fn own_field(is_input: bool) -> Value {
    json!({"anyOf": [kind(), field(is_input, false)]})
}

fn field(is_input: bool, has_message: bool) -> Value {
    let (name, own) =
        if is_input { ("input_field", "own_input_field") } else { ("output_field", "own_output_field") };
    let nested = json!({"$ref": format!("#/$defs/{}", if has_message { name } else { own })});
    let mut properties = object(json!({
        "description": text("What a model reads of the field; without it, the proto comment."),
        "items": nested
    }));
    let allows = |key: &str| is_input || !has_message || key == "enum";
    for (key, _, form) in CONSTRAINTS.into_iter().filter(|(key, ..)| allows(key)) {
        properties.insert(key.to_owned(), value_of(form));
    }
    if is_input {
        properties.insert("required".to_owned(), flag("Whether a call must give it."));
        let sensitive = flag("Whether its value is kept from people, logs and timelines.");
        properties.insert("sensitive".to_owned(), sensitive);
        properties.insert("extract".to_owned(), extract());
    } else {
        properties.insert(
            "omit_when_absent".to_owned(),
            flag("Whether it is left out, rather than null, when it is absent."),
        );
    }
    let mut field = object(json!({"type": "object", "additionalProperties": false}));
    if !has_message {
        properties.insert("type".to_owned(), kind());
        let members = json!({"type": "object", "propertyNames": {"pattern": FIELD_NAME}, "additionalProperties": nested});
        properties.insert("properties".to_owned(), members);
        field.insert("required".to_owned(), json!(["type"]));
    }
    field.insert("properties".to_owned(), properties.into());
    field.into()
}

fn extract() -> Value {
    let kind = || words(ExtractKind::ALL.iter().map(|it| it.word()), "What is looked for.");
    json!({
        "description": "How it is read from what a user says; for planners without a model.",
        "anyOf": [kind(), {
            "type": "object",
            "properties": {
                "kind": kind(),
                "of": text("Of which kind of thing the names are, such as `market`."),
                "join": text("What stands between several names in one text."),
                "after": texts("Words one of which must stand before what is read."),
                "words": {
                    "type": "object",
                    "additionalProperties": texts("What people say for the value."),
                    "description": "What people say for a value, by value."
                }
            },
            "required": ["kind"],
            "additionalProperties": false
        }]
    })
}

fn kind() -> Value {
    words(KINDS.into_iter(), "The type of the field, as JSON Schema names it.")
}

fn value_of(form: Form) -> Value {
    match form {
        Form::Any => json!(true),
        Form::List => json!({"type": "array"}),
        Form::Number => json!({"type": "number"}),
        Form::Count => json!({"type": "integer", "minimum": 0}),
        Form::Text => json!({"type": "string"}),
    }
}

fn text(description: &str) -> Value {
    json!({"type": "string", "pattern": NOT_BLANK, "description": description})
}

fn texts(description: &str) -> Value {
    json!({"type": "array", "items": {"type": "string", "pattern": NOT_BLANK}, "description": description})
}

fn flag(description: &str) -> Value {
    json!({"type": "boolean", "description": description})
}

fn words(words: impl Iterator<Item = &'static str>, description: &str) -> Value {
    json!({"enum": words.collect::<Vec<_>>(), "description": description})
}

/// The members of a literal object.
fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}
