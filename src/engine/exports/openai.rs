//! Tools for `OpenAI`'s chat completions and responses, with the schema unchanged or, on demand, strict.

mod strict;

use serde::Serialize;
use serde_json::Value;

use super::{json::text, schema};
use crate::registry::Definition;

/// Maximum number of tools in a request.
const MAX_TOOLS: usize = 128;
/// Maximum length of a description in characters for older models and some compatible servers.
const MAX_DESCRIPTION: usize = 1_024;

#[derive(Serialize)]
struct Tool<T> {
    r#type: &'static str,
    function: T,
}

#[derive(Serialize)]
struct FlatTool<T> {
    r#type: &'static str,
    #[serde(flatten)]
    function: T,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    description: &'a str,
    parameters: Value,
    strict: bool,
}

/// The value of `tools` in a request for a chat completion.
pub(super) fn for_chat(tools: &[&Definition], is_strict: bool, notes: &mut Vec<String>) -> String {
    let functions = functions(tools, is_strict, notes);
    let tools: Vec<_> = functions.map(|function| Tool { r#type: "function", function }).collect();
    text(&tools)
}

/// The value of `tools` in a request for a response.
pub(super) fn for_responses(tools: &[&Definition], is_strict: bool, notes: &mut Vec<String>) -> String {
    let functions = functions(tools, is_strict, notes);
    let tools: Vec<_> = functions.map(|function| FlatTool { r#type: "function", function }).collect();
    text(&tools)
}

fn functions<'a>(
    tools: &'a [&Definition],
    is_strict: bool,
    notes: &mut Vec<String>,
) -> impl Iterator<Item = Function<'a>> {
    if tools.len() > MAX_TOOLS {
        notes.push(format!(
            "these are {} tools, and a request takes at most {MAX_TOOLS}: narrow them with tags",
            tools.len()
        ));
    }
    tools.iter().map(move |tool| function(tool, is_strict, notes))
}

fn function<'a>(tool: &'a Definition, is_strict: bool, notes: &mut Vec<String>) -> Function<'a> {
    let length = tool.description.chars().count();
    if length > MAX_DESCRIPTION {
        notes.push(format!(
            "{}: the description has {length} characters; older models take {MAX_DESCRIPTION}",
            tool.name
        ));
    }
    let (name, description) = (tool.name.as_str(), tool.description.as_str());
    let plain = |strict| {
        let parameters = schema::without_dialect(&tool.input_schema);
        Function { name, description, parameters, strict }
    };
    if !is_strict {
        return plain(false);
    }
    match strict::of(&tool.input_schema) {
        Ok(parameters) => Function { name, description, parameters, strict: true },
        Err(why) => {
            notes.push(format!("{name}: not strict: {why}"));
            plain(false)
        }
    }
}
