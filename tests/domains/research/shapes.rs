//! Every tool answers offline, in exactly the shape that the fixture gives it.

use serde_json::{Map, Value};
use toolwire::contract::Payload;

use super::support::Research;

#[tokio::test]
async fn every_tool_answers_offline_in_its_specified_shape() {
    let text = include_str!("../../fixtures/research_shapes.json");
    let tools: Map<String, Value> = serde_json::from_str(text).expect("JSON");
    let research = Research::embedded();
    let mut wrong = Vec::new();
    // In the order of the file: a stock is watched before the list is read.
    for (tool, expected) in &tools {
        match research.call(tool, expected["arguments"].clone()).await.outcome {
            Ok(data) => differences(tool, &expected["shape"], Payload::json(&data), &mut wrong),
            Err(error) => wrong.push(format!("{tool}: {error}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Compares a value with its shape: exactly these keys, each of its type; lists must not be empty, unless `list`.
fn differences(path: &str, shape: &Value, value: &Value, wrong: &mut Vec<String>) {
    match (shape, value) {
        (Value::Object(shape), Value::Object(value)) => {
            for (key, inner) in shape {
                match value.get(key) {
                    Some(found) => differences(&format!("{path}.{key}"), inner, found, wrong),
                    None => wrong.push(format!("{path}.{key} is missing")),
                }
            }
            let extra = value.keys().filter(|key| !shape.contains_key(*key));
            wrong.extend(extra.map(|key| format!("{path}.{key} is not in the specification")));
        }
        (Value::Array(shape), Value::Array(values)) => {
            if values.is_empty() {
                wrong.push(format!("{path} is empty"));
            }
            for (index, value) in values.iter().enumerate() {
                differences(&format!("{path}[{index}]"), &shape[0], value, wrong);
            }
        }
        (Value::String(kinds), value) if kinds.split('|').any(|kind| is_of(kind, value)) => {}
        (shape, value) => wrong.push(format!("{path}: expected {shape}, found {value}")),
    }
}

fn is_of(kind: &str, value: &Value) -> bool {
    let text = value.as_str();
    match kind {
        "text" => text.is_some_and(|text| !text.trim().is_empty()),
        "string" => text.is_some(),
        "integer" => value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "list" => value.is_array(),
        "texts" => value.as_array().is_some_and(|items| items.iter().all(|item| is_of("text", item))),
        "date" => text.is_some_and(|text| chrono::NaiveDate::parse_from_str(text, "%Y-%m-%d").is_ok()),
        "time" => {
            text.is_some_and(|text| text.ends_with('Z') && chrono::DateTime::parse_from_rfc3339(text).is_ok())
        }
        other => panic!("no kind {other}"),
    }
}

#[test]
#[should_panic(expected = "found")]
fn a_wrong_shape_is_found() {
    let mut wrong = Vec::new();
    differences("x", &serde_json::json!({"a": "number"}), &serde_json::json!({"a": "1"}), &mut wrong);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
