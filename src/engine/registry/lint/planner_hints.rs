//! Checks the hints for planners without a model: enough distinct utterances, an extraction of each required
//! parameter, and a summary.

use std::collections::HashSet;

use serde_json::Value;

use super::super::{
    assemble::RegisteredTool,
    problem::{Report, join},
    words::ToolType,
};

/// Minimum number of utterances of a tool with keywords.
const FEWEST: usize = 6;

/// Checks one tool. A tool without keywords is not for such planners.
pub(super) fn check(tool: &RegisteredTool, report: &mut Report) {
    let (definition, hints) = (&tool.definition, &tool.hints);
    let mut said = HashSet::new();
    for (index, utterance) in definition.utterances.iter().enumerate() {
        if !said.insert(utterance.to_lowercase()) {
            let text = format!("`{utterance}` stands twice; keep one");
            report.add(join("/utterances", index), "duplicate-utterance", text);
        }
    }
    if hints.keywords.is_empty() {
        return;
    }
    let count = definition.utterances.len();
    if count < FEWEST {
        let text =
            format!("{count} utterances beside keywords; write at least {FEWEST}, each in other words");
        report.add("/utterances", "few-utterances", text);
    }
    if !tool.narration.has_summary() && definition.kind == ToolType::Function {
        let text =
            "keywords, and no `summary`: say in a few words what came out, with {fields} of the result";
        report.add("/summary", "no-summary", text);
    }
    let required = definition.input_schema.get("required").and_then(Value::as_array).into_iter().flatten();
    for name in required.filter_map(Value::as_str).filter(|name| !hints.extracts.contains_key(*name)) {
        let text = "required, and nothing says how it is read from a question: add `extract`";
        report.add(join("/parameters", name), "no-extract", text);
    }
}
