//! Tools for Anthropic's messages: the schema unchanged, and example calls beside it.

use serde::Serialize;
use serde_json::{Map, Value};

use super::{json::text, schema};
use crate::registry::Definition;

#[derive(Serialize)]
struct Tool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: Value,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    input_examples: Vec<&'a Map<String, Value>>,
}

/// The value of `tools` in a request.
pub(super) fn declare(tools: &[&Definition]) -> String {
    let tools: Vec<_> = tools.iter().copied().map(Tool::of).collect();
    text(&tools)
}

impl<'a> Tool<'a> {
    fn of(definition: &'a Definition) -> Self {
        Self {
            name: definition.name.as_str(),
            description: &definition.description,
            input_schema: schema::without_dialect(&definition.input_schema),
            input_examples: definition.examples.iter().map(|example| &example.arguments).collect(),
        }
    }
}
