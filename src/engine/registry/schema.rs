//! Derives the JSON Schemas (2020-12) of a tool's input and output: from its messages and their comments, constrained
//! by its manifest, or from the manifest alone.
//!
//! Objects are closed and properties are in the order of the proto, so that the text is deterministic. Not here: the
//! validation of calls (`input`).

mod comments;
mod constraints;
mod from_manifest;
mod from_message;
mod payloads;

use serde_json::{Map, Value, json};

pub(super) use from_manifest::from_manifest;
pub use from_message::pattern_in_words;
pub(super) use from_message::{DURATION_PATTERN, from_message};
pub(super) use payloads::{is_exact, is_payload, refuse_unsupported};
use toolwire_schema::{Options, Schema};

/// Maximum size of a compiled pattern that is compiled for one answer, in bytes.
const SMALL_PATTERN: usize = 32 * 1024;
/// Maximum size of a compiled pattern that a provider sends, in bytes: one of a few characters could take 10 MiB.
const MAX_PATTERN: usize = 512 * 1024;

const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Compiles a schema.
pub(super) fn compile(schema: &Value) -> Result<Schema, String> {
    Schema::compile(schema, Options::default())
}

/// Compiles a schema that a provider may have sent, whose patterns are bounded.
pub(super) fn compile_bounded(schema: &Value) -> Result<Schema, String> {
    Schema::compile(schema, Options { max_pattern: Some(MAX_PATTERN), ..Options::default() })
}

/// Compiles a part of a schema for one answer, unless it has a pattern that takes long to compile.
pub(super) fn compile_small(schema: &Value) -> Result<Schema, String> {
    Schema::compile(schema, Options { max_pattern: Some(SMALL_PATTERN), ..Options::default() })
}

/// Adds `$schema` as the first member.
pub(super) fn with_dialect(object: Map<String, Value>) -> Value {
    let mut schema = Map::from_iter([("$schema".to_owned(), DIALECT.into())]);
    schema.extend(object);
    Value::Object(schema)
}

/// The schema of a closed object.
fn closed_object(properties: Map<String, Value>, required: Vec<String>) -> Map<String, Value> {
    let mut object = keywords(json!({"type": "object"}));
    object.insert("properties".to_owned(), properties.into());
    if !required.is_empty() {
        object.insert("required".to_owned(), required.into());
    }
    object.insert("additionalProperties".to_owned(), false.into());
    object
}

/// The keywords of a schema written with `json!`.
fn keywords(schema: Value) -> Map<String, Value> {
    match schema {
        Value::Object(keywords) => keywords,
        _ => Map::new(),
    }
}

/// Inserts a description after the type.
fn describe(schema: &mut Map<String, Value>, description: Option<&str>) {
    if let Some(description) = description.filter(|text| !text.is_empty()) {
        let index = usize::from(schema.contains_key("type"));
        schema.shift_insert(index, "description".to_owned(), description.into());
    }
}
