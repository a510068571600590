//! Renders an example as a shell command.

use serde_json::{Map, Value};

use crate::registry::parts::Example;
use toolwire_base::words::shell;

/// The description of the example, and the command that makes the call.
pub(super) fn line(tool: &str, example: &Example) -> String {
    format!(
        "{}\n\n```sh\ntoolwire call {tool}{}\n```\n\n",
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
