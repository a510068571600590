//! No column of an answer is empty whatever is asked: a field that no source fills is a promise that nobody keeps.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use toolwire::{config::Config, engine::registry::Definition};

use super::research::support::Research;

/// What is asked of research, beside the examples of the manifests: stocks of several kinds.
fn of_research() -> Vec<(&'static str, Value)> {
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

/// What is asked of the brokerage: what is held, sold out, and one class of it.
fn of_brokerage() -> Vec<(&'static str, Value)> {
    let mut calls = vec![("get_positions_list", json!({"asset_class": "etf"}))];
    for symbol in ["AAPL", "INTC", "PFE", "ARKK", "BND"] {
        calls.push(("get_symbol_performance", json!({"symbol": symbol})));
        calls.push(("get_positions", json!({"symbol": symbol})));
    }
    for timeframe in ["1M", "YTD", "1Y"] {
        calls.push(("get_performance_with_transfers", json!({"timeframe": timeframe})));
    }
    calls
}

/// The columns of a domain's tools that stay empty in the answers to these calls and to the manifests' examples.
async fn always_empty(package: &str, calls: Vec<(&'static str, Value)>) -> Vec<String> {
    let mut config = Config::default();
    config.server.diagnostics = true;
    let service = Research::of(config);
    let snapshot = service.app.registry.snapshot();
    let mut calls: Vec<_> = calls.into_iter().map(|(tool, input)| (tool.to_owned(), input)).collect();
    let mut columns = BTreeMap::new();
    for definition in snapshot.tools().map(|tool| &tool.definition) {
        let of_tool = columns_of(definition);
        if definition.output_message.as_ref().is_some_and(|it| it.starts_with(package)) && !of_tool.is_empty()
        {
            let examples = definition.examples.iter();
            calls.extend(examples.map(|it| (definition.name.to_string(), it.arguments.clone().into())));
            columns.insert(definition.name.to_string(), of_tool);
        }
    }
    for (tool, input) in calls {
        let outcome = service.call(&tool, input.clone()).await.outcome;
        let data = outcome.unwrap_or_else(|error| panic!("{tool} {input}: {error}"));
        let mut found = BTreeSet::new();
        filled(&tool, data.json(), &mut found);
        columns.get_mut(&tool).expect("a tool of the domain").retain(|column| !found.contains(column));
    }
    columns.into_values().flatten().collect()
}

fn columns_of(definition: &Definition) -> BTreeSet<String> {
    let mut columns = BTreeSet::new();
    leaves(&definition.name, &definition.output_schema, &mut columns);
    columns
}

#[tokio::test]
async fn no_column_of_research_is_always_empty() {
    let empty_here = [
        // A copy of this very moment is no hour old.
        "browse_screener.cache_age_hours",
        // Promoters of the embedded companies keep what they hold.
        "get_institutional_holdings.change_qoq.promoter_pct",
    ];
    assert_eq!(always_empty("toolwire.research.", of_research()).await, empty_here);
}

#[tokio::test]
async fn no_column_of_the_brokerage_is_always_empty() {
    // Every embedded holding has a quote; `composites` fills it with one that has none.
    let empty_here = ["rank_portfolio.unpriced[]"];
    assert_eq!(always_empty("toolwire.brokerage.", of_brokerage()).await, empty_here);
}

#[tokio::test]
async fn no_column_of_the_diagnostics_is_always_empty() {
    let empty_here: [&str; 0] = [];
    let calls = vec![("debug_nested", json!({"depth": 2, "duration": "0s"}))];
    assert_eq!(always_empty("toolwire.diagnostics.", calls).await, empty_here);
}
