//! Renders the examples of a tool as shell commands, with what they need.

use serde_json::{Map, Value};

use crate::{
    kept_results::KeptResults,
    registry::{
        assemble::RegisteredTool,
        behaviour::Execution,
        parts::{Example, Status},
    },
};
use toolwire_base::words::shell;

/// What the tool's calls need that no argument gives, then each example.
pub(super) fn all(tool: &RegisteredTool) -> String {
    let definition = &tool.definition;
    let task = if needs_task(tool) { " --task \"$TASK\"" } else { "" };
    let examples = definition.examples.iter().map(|it| line(&definition.name, it, task));
    needs(tool).map(|text| format!("{text}\n\n")).into_iter().chain(examples).collect()
}

fn needs(tool: &RegisteredTool) -> Option<&'static str> {
    if tool.needs_service::<KeptResults>() {
        return Some(
            "`call_id` is that of a call whose result was kept, because it was longer than the caller asked for \
             ([EXPORTS.md](EXPORTS.md#long-results)).",
        );
    }
    let is_disabled = matches!(tool.definition.status, Status::Disabled(_));
    is_disabled.then_some("On a server where the tool is not disabled:")
}

/// Whether a call outside a task is refused: without its workspace, or without an agent that hands off, delegates or
/// asks.
fn needs_task(tool: &RegisteredTool) -> bool {
    match tool.definition.kind.behaviour().by {
        Execution::Executor => tool.works_on_documents(),
        Execution::HandOff | Execution::Delegate | Execution::Ask => true,
        Execution::Log | Execution::Root => false,
    }
}

/// The description of the example, and the command that makes the call.
fn line(tool: &str, example: &Example, task: &str) -> String {
    format!(
        "{}\n\n```sh\ntoolwire call {tool}{}{task}\n```\n\n",
        example.description,
        arguments(&example.arguments)
    )
}

/// ` key=value …`, or ` --json '…'` if a value has no plain form.
fn arguments(arguments: &Map<String, Value>) -> String {
    let pairs: Option<String> = arguments.iter().map(|(key, value)| pair(key, value)).collect();
    pairs.unwrap_or_else(|| format!(" --json {}", shell(&Value::Object(arguments.clone()).to_string())))
}

fn pair(key: &str, value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(format!(" {}", shell(&format!("{key}={text}")))),
        Value::Number(_) | Value::Bool(_) => Some(format!(" {key}={value}")),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(value: &Value, expected: &str) {
        assert_eq!(arguments(value.as_object().expect("an object")), expected);
    }

    #[test]
    fn a_shell_reads_back_what_was_meant() {
        check(&json!({}), "");
        check(&json!({"symbol": "AAPL", "limit": 5}), " symbol=AAPL limit=5");
        check(&json!({"topic": "roth ira's"}), r" 'topic=roth ira'\''s'");
        check(&json!({"symbols": ["A"]}), r#" --json '{"symbols":["A"]}'"#);
    }
}
