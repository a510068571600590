//! Files of questions, one JSON object a line: what is said, and what should come of it. Lines of `//` are comments.

use std::{collections::BTreeMap, fs};

use serde::Deserialize;
use serde_json::{Map, Value};
use toolwire::{
    engine::registry::{ExtractKind, RegisteredTool},
    planner::PlannedCall,
    state::workspace::terms,
};

use super::offered::Bench;

/// One question.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Question {
    pub(crate) id: String,
    pub(crate) said: String,
    #[serde(default)]
    pub(crate) dialogue: Option<Vec<String>>,
    pub(crate) expect: Expect,
    #[serde(default)]
    pub(crate) tools: Vec<Wanted>,
    /// Calls that are as good.
    #[serde(default)]
    pub(crate) also: Vec<Wanted>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Expect {
    Call,
    Clarify,
    None,
    Refuse,
}

/// A call that should be made.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    pub(crate) tool: String,
    #[serde(default)]
    pub(crate) arguments: Map<String, Value>,
}

pub(crate) fn read(path: &str) -> Vec<Question> {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with("//"));
    lines.map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"))).collect()
}

/// Whether calls are those that are wanted, with arguments that mean the same.
pub(crate) fn are_wanted(bench: &Bench, wanted: &[Wanted], planned: &[PlannedCall]) -> bool {
    let of = |tool: &str, arguments: &Map<String, Value>| (tool.to_owned(), meaning(bench, tool, arguments));
    let mut wanted: Vec<_> = wanted.iter().map(|it| of(&it.tool, &it.arguments)).collect();
    let mut planned: Vec<_> = planned.iter().map(|it| of(&it.tool, &it.arguments)).collect();
    wanted.sort();
    planned.sort();
    // Calls may differ in a parameter that is not compared.
    planned.dedup();
    wanted == planned
}

/// The parameters, by tool, that are younger than the questions: none says what they should be.
const LATER: [(&str, &str); 3] =
    [("get_activity", "side"), ("get_activity", "symbol"), ("get_transfers", "type")];

/// Arguments in one form: defaults filled in, names as tools take them, small words of free texts left out.
fn meaning(bench: &Bench, tool: &str, arguments: &Map<String, Value>) -> BTreeMap<String, String> {
    let tool = bench.tool(tool);
    let schema = tool.definition.input_schema["properties"].as_object().cloned().unwrap_or_default();
    let value = |(name, property): (&String, &Value)| {
        if LATER.contains(&(tool.definition.name.as_str(), name)) {
            return None;
        }
        let value = arguments.get(name).or_else(|| property.get("default"))?;
        Some((name.clone(), of_value(bench, &tool, name, value)))
    };
    schema.iter().filter_map(value).collect()
}

fn of_value(bench: &Bench, tool: &RegisteredTool, name: &str, value: &Value) -> String {
    let kind = tool.hints.extracts.get(name).map(|it| it.kind);
    match (kind, value) {
        (Some(ExtractKind::Symbol | ExtractKind::Symbols | ExtractKind::Company), Value::String(text)) => {
            sorted(text.split(',').map(|part| bench.value_of(part.trim())).collect())
        }
        (_, Value::Array(all)) => {
            sorted(all.iter().filter_map(Value::as_str).map(|it| bench.value_of(it)).collect())
        }
        (Some(ExtractKind::Topic | ExtractKind::Rest), Value::String(text)) => {
            let words = terms::terms(text).filter(|word| !terms::is_stop_word(word));
            words.collect::<Vec<_>>().join(" ")
        }
        (_, Value::String(text)) => text.to_lowercase(),
        (_, Value::Number(number)) => number.as_f64().unwrap_or_default().to_string(),
        (_, other) => other.to_string(),
    }
}

fn sorted(mut values: Vec<String>) -> String {
    values.sort();
    values.join(",")
}
