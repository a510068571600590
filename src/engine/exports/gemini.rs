//! Tools for Gemini, in both forms of its function declarations: with JSON Schema, and with `OpenAPI` schemas.

mod openapi;

use serde::Serialize;
use serde_json::Value;

use super::json::text;
use crate::registry::Definition;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tool<T> {
    function_declarations: Vec<T>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ByJsonSchema<'a> {
    name: &'a str,
    description: &'a str,
    parameters_json_schema: &'a Value,
}

#[derive(Serialize)]
struct ByOpenapi<'a> {
    name: &'a str,
    description: &'a str,
    /// Absent for a tool without parameters: Gemini refuses an object without members.
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters: Option<Value>,
}

/// The value of `tools` in a request, with JSON Schemas.
pub(super) fn with_json_schema(tools: &[&Definition]) -> String {
    tools_of(tools.iter().copied().map(ByJsonSchema::of).collect())
}

/// The value of `tools` in a request, with `OpenAPI` schemas.
pub(super) fn with_openapi(tools: &[&Definition], notes: &mut Vec<String>) -> String {
    tools_of(tools.iter().map(|tool| ByOpenapi::of(tool, notes)).collect())
}

impl<'a> ByJsonSchema<'a> {
    fn of(definition: &'a Definition) -> Self {
        Self {
            name: definition.name.as_str(),
            description: &definition.description,
            parameters_json_schema: &definition.input_schema,
        }
    }
}

impl<'a> ByOpenapi<'a> {
    fn of(definition: &'a Definition, notes: &mut Vec<String>) -> Self {
        let (parameters, missing) = openapi::of(&definition.input_schema);
        notes.extend(missing.into_iter().map(|what| format!("{}: {what}", definition.name)));
        Self { name: definition.name.as_str(), description: &definition.description, parameters }
    }
}

/// One tool with all functions; none if there are no functions.
fn tools_of<T: Serialize>(declarations: Vec<T>) -> String {
    let tools: Vec<_> = (!declarations.is_empty())
        .then_some(Tool { function_declarations: declarations })
        .into_iter()
        .collect();
    text(&tools)
}
