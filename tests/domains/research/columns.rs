//! No column of an answer is empty whatever is asked: a field that no source fills is a promise that nobody keeps.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{advice::is_of_research, support::Research};

/// What is empty here and not everywhere.
const EMPTY_HERE: [&str; 2] = [
    // A copy of this very moment is no hour old; specification 004 shows the field.
    "browse_screener.cache_age_hours",
    // Promoters of the embedded companies keep what they hold.
    "get_institutional_holdings.change_qoq.promoter_pct",
];

/// What is asked, beside the examples of the manifests: stocks of several kinds.
fn calls() -> Vec<(&'static str, Value)> {
    let mut calls = vec![
        ("browse_screener", json!({})),
        ("add_to_watchlist", json!({"symbol": "TCS", "note": "wait for the results"})),
        ("remove_from_watchlist", json!({"symbol": "TCS"})),
        ("add_to_watchlist", json!({"symbol": "INFY", "note": "wait for the results"})),
        ("browse_watchlist", json!({"source": "all"})),
        ("browse_valuepickr", json!({"category": "watchlist"})),
        ("compare_stocks", json!({"symbols": ["TCS", "INFY", "ZZZZ"]})),
        ("backtest_filter", json!({"symbols": ["INFY", "TCS"]})),
    ];
    for symbol in ["RELIANCE", "TCS", "IDEA", "SUZLON", "HDBFS", "HDFCBANK", "ETERNAL"] {
        for tool in
            ["get_fundamentals", "check_wait_zone", "get_institutional_holdings", "get_reddit_mentions"]
        {
            calls.push((tool, json!({"symbol": symbol})));
        }
        calls.push(("check_forbidden", json!({"symbol": symbol})));
    }
    calls
}

/// Every leaf of a schema, such as `stocks[].pe`.
fn leaves(path: &str, schema: &Value, found: &mut BTreeSet<String>) {
    for either in schema["anyOf"].as_array().into_iter().flatten() {
        leaves(path, either, found);
    }
    if schema["anyOf"].is_array() {
        return;
    }
    match (schema["properties"].as_object(), schema.get("items")) {
        (Some(properties), _) => {
            for (name, inner) in properties {
                leaves(&format!("{path}.{name}"), inner, found);
            }
        }
        (None, Some(items)) => leaves(&format!("{path}[]"), items, found),
        _ if schema["type"] == "null" => {}
        _ => {
            found.insert(path.to_owned());
        }
    }
}

/// Every leaf of an answer that says something: not null, not zero, not empty.
fn filled(path: &str, value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            for (name, inner) in members {
                filled(&format!("{path}.{name}"), inner, found);
            }
        }
        Value::Array(items) => {
            for item in items {
                filled(&format!("{path}[]"), item, found);
            }
        }
        Value::Null => {}
        Value::Number(number) if number.as_f64() == Some(0.0) => {}
        Value::String(text) if text.is_empty() => {}
        _ => {
            found.insert(path.to_owned());
        }
    }
}

#[tokio::test]
async fn no_column_is_always_empty() {
    let research = Research::embedded();
    let snapshot = research.app.registry.snapshot();
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut calls: Vec<_> = calls().into_iter().map(|(tool, input)| (tool.to_owned(), input)).collect();
    for tool in snapshot.tools().filter(|tool| is_of_research(&tool.definition)) {
        let examples = tool.definition.examples.iter();
        calls.extend(examples.map(|it| (tool.definition.name.to_string(), it.arguments.clone().into())));
    }
    for (tool, input) in calls {
        let outcome = research.call(&tool, input.clone()).await.outcome;
        let data = outcome.unwrap_or_else(|error| panic!("{tool} {input}: {error}"));
        filled(&tool, data.json(), found.entry(tool.clone()).or_default());
    }
    let mut empty = BTreeSet::new();
    for tool in snapshot.tools().filter(|tool| is_of_research(&tool.definition)) {
        let mut columns = BTreeSet::new();
        leaves(&tool.definition.name, &tool.definition.output_schema, &mut columns);
        empty.extend(columns.difference(&found[tool.definition.name.as_str()]).cloned());
    }
    assert_eq!(empty.iter().map(String::as_str).collect::<Vec<_>>(), EMPTY_HERE);
}
