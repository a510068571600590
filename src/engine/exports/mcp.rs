//! Tools for MCP: the result of `tools/list`.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::{Value, json};

use super::json::text;
use crate::registry::{Category, ConsequenceLevel, Definition};

#[derive(Serialize)]
struct ListToolsResult<'a> {
    tools: Vec<Tool<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tool<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    title: &'a str,
    description: &'a str,
    input_schema: &'a Value,
    output_schema: &'a Value,
    annotations: Annotations,
    #[serde(rename = "_meta")]
    meta: Value,
}

/// Hints. All are stated, since MCP assumes the worst for an absent one.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::struct_excessive_bools, reason = "a hint of the protocol each")]
struct Annotations {
    read_only_hint: bool,
    destructive_hint: bool,
    idempotent_hint: bool,
    open_world_hint: bool,
}

pub(super) fn list(tools: &[&Definition], on_network: &BTreeSet<String>) -> String {
    text(&ListToolsResult { tools: tools.iter().map(|tool| Tool::of(tool, on_network)).collect() })
}

impl<'a> Tool<'a> {
    fn of(definition: &'a Definition, on_network: &BTreeSet<String>) -> Self {
        Self {
            name: definition.name.as_str(),
            title: &definition.title,
            description: &definition.description,
            input_schema: &definition.input_schema,
            output_schema: &definition.output_schema,
            annotations: annotations(definition, on_network),
            meta: json!({"toolwire/digest": definition.digest.to_string()}),
        }
    }
}

fn annotations(tool: &Definition, on_network: &BTreeSet<String>) -> Annotations {
    let reads = tool.category == Category::Read;
    let destroys = match tool.category {
        Category::Delete | Category::SideEffect => true,
        Category::Read => false,
        Category::Write => tool.consequence_level == ConsequenceLevel::High,
    };
    Annotations {
        read_only_hint: reads,
        destructive_hint: destroys,
        idempotent_hint: reads || tool.idempotent,
        open_world_hint: tool.source.as_ref().is_some_and(|source| on_network.contains(&source.name)),
    }
}
