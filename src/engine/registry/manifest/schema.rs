//! The JSON Schema of a manifest: start-up checks manifests against it, and editors use it for completion and checks.
//!
//! It cannot check what only start-up knows: messages, executors, other manifests.

use serde_json::{Map, Value, json};

use super::Manifest;
use crate::registry::{
    extract::Extract,
    field_declaration::{CONSTRAINTS, FIELD_NAME, KINDS},
    keys::{NOT_BLANK, alias, describe, flag, text, texts, whole},
    planner_hints::{FEWEST, LONGEST, MOST},
    words::Binding,
};

/// The schema of `data/tools/<name>.json` (JSON Schema 2020-12).
pub fn manifest_schema() -> Value {
    let mut keys = Manifest::schema();
    alias(&mut keys, "name", "tool_id");
    keys["properties"]["$schema"] =
        describe(text(), "The address of this schema, for editors. Toolwire ignores it.");
    let mut schema = object(json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Toolwire tool manifest",
        "description": "Declares one tool: what its protobuf messages cannot say. See docs/MANIFEST.md.",
    }));
    schema.extend(object(keys));
    schema.extend(object(json!({
        "allOf": [typed_by_message("input", "parameters", "input_field"), typed_by_message("output", "returns", "output_field")],
        "$defs": {
            "input_field": field(true, true),
            "output_field": field(false, true),
            "own_input_field": own_field(true),
            "own_output_field": own_field(false),
            "condition": condition()
        }
    })));
    schema.into()
}

/// The form of `keywords`: none, or a number within bounds.
pub(super) fn keywords() -> Value {
    let length = format!("a keyword is a phrase of at most {LONGEST} characters; a question is an utterance");
    let count = format!("write {FEWEST} to {MOST} keywords, or none");
    json!({
        "type": "array",
        "items": {"type": "string", "pattern": NOT_BLANK, "maxLength": LONGEST, "errorMessage": length},
        "if": {"minItems": 1},
        "then": {"minItems": FEWEST, "maxItems": MOST, "errorMessage": count}
    })
}

/// The form of `approve_unless`: JSON Schemas by name of argument.
pub(super) fn conditions() -> Value {
    json!({
        "type": "object",
        "additionalProperties": {"$ref": "#/$defs/condition"},
        "allOf": [{
            "minProperties": 1,
            "errorMessage": "`approve_unless` names no argument; name those that it is about, or remove it"
        }]
    })
}

/// A JSON Schema with these keywords only. A validator ignores unknown ones, which would let every call pass.
fn condition() -> Value {
    let nested = json!({"$ref": "#/$defs/condition"});
    let alternatives = json!({"type": "array", "items": nested, "minItems": 1});
    let number = json!({"type": "number"});
    json!({
        "type": "object",
        "properties": {
            "type": kind(),
            "const": {},
            "enum": {"type": "array"},
            "minimum": number,
            "maximum": number,
            "exclusiveMinimum": number,
            "exclusiveMaximum": number,
            "multipleOf": {"type": "number", "exclusiveMinimum": 0},
            "minLength": whole(0),
            "maxLength": whole(0),
            "pattern": {"type": "string"},
            "minItems": whole(0),
            "maxItems": whole(0),
            "uniqueItems": flag(),
            "items": nested,
            "contains": nested,
            "properties": {"type": "object", "additionalProperties": nested},
            "required": texts(),
            "additionalProperties": flag(),
            "allOf": alternatives,
            "anyOf": alternatives,
            "oneOf": alternatives,
            "not": nested
        },
        "additionalProperties": false,
        "allOf": [{"minProperties": 1, "errorMessage": "an empty condition holds for every value; say what must hold"}]
    })
}

/// With a message, which gives the types, fields have constraints only; without one, a field's type is required.
fn typed_by_message(message: &str, fields: &str, with_message: &str) -> Value {
    let each = |definition: &str| json!({"properties": {fields: {"additionalProperties": {"$ref": format!("#/$defs/{definition}")}}}});
    let own = json!({"properties": {fields: {
        "propertyNames": {"pattern": FIELD_NAME},
        "additionalProperties": {"$ref": format!("#/$defs/own_{with_message}")}
    }}});
    json!({"if": {"required": [message]}, "then": each(with_message), "else": own})
}

fn own_field(is_input: bool) -> Value {
    json!({"anyOf": [kind(), field(is_input, false)]})
}

fn field(is_input: bool, has_message: bool) -> Value {
    let (name, own) =
        if is_input { ("input_field", "own_input_field") } else { ("output_field", "own_output_field") };
    let nested = json!({"$ref": format!("#/$defs/{}", if has_message { name } else { own })});
    let mut properties = object(json!({
        "description": describe(text(), "What a model reads of the field; without it, the proto comment."),
        "items": nested
    }));
    let allows = |key: &str| is_input || !has_message || key == "enum" || key.starts_with("content_");
    for (key, _, form) in CONSTRAINTS.into_iter().filter(|(key, ..)| allows(key)) {
        properties.insert(key.to_owned(), form.schema());
    }
    if is_input {
        properties.extend(object(json!({
            "required": describe(flag(), "Whether a call must give it."),
            "sensitive": describe(flag(), "Whether its value is kept from people, logs and timelines."),
            "bind": describe(Binding::form(), "What of the call its value is. Callers neither see nor give it."),
            "fixed": describe(json!({}), "Its value in every call. Callers neither see nor give it."),
            "hidden": describe(flag(), "Whether callers neither see nor give it, so that it has its default, if any."),
            "extract": describe(Extract::form(), "How it is read from what a user says; for planners without a model.")
        })));
    } else {
        let omitted = describe(flag(), "Whether it is left out, rather than null, when it is absent.");
        properties.insert("omit_when_absent".to_owned(), omitted);
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

fn kind() -> Value {
    json!({"enum": KINDS, "description": "The type of the field, as JSON Schema names it."})
}

/// The members of an object written with `json!`.
fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::field_declaration::FieldDeclaration;

    #[test]
    fn every_key_of_a_field_is_read() {
        let samples = json!({
            "type": "object", "description": "One.", "items": {}, "properties": {"a": {}}, "enum": [], "default": 1,
            "minimum": 1, "maximum": 1, "min_length": 1, "max_length": 1, "pattern": "a", "min_items": 1,
            "max_items": 1, "content_encoding": "base64", "content_media_type": "image/png", "examples": [], "required": true, "sensitive": true, "extract": "words",
            "omit_when_absent": true, "bind": "user.id", "fixed": 1, "hidden": true
        });
        let read = |field: Value| FieldDeclaration::read_all(object(json!({"one": field})), "");
        let schema = manifest_schema();
        for fields in ["input_field", "output_field", "own_input_field/anyOf/1", "own_output_field/anyOf/1"] {
            let keys = schema.pointer(&format!("/$defs/{fields}/properties")).and_then(Value::as_object);
            for key in keys.expect("an object").keys() {
                let [with, without] = [read(json!({key: samples[key]})), read(json!({}))];
                assert_ne!(format!("{with:?}"), format!("{without:?}"), "{key}");
            }
        }
    }
}
