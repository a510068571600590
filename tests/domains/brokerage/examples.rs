//! Every example payload of the brokerage's specification (docs/ORIGINS.md) is contained in what the tool returns for
//! the default account.

use serde_json::{Map, Value, json};

use super::support::Bench;

fn fixture(path: &str) -> Value {
    let path = format!("{}/tests/fixtures/{path}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).expect("the fixture")).expect("JSON")
}

fn examples() -> Map<String, Value> {
    match fixture("brokerage_examples.json") {
        Value::Object(examples) => examples,
        _ => panic!("the fixture is an object"),
    }
}

/// Fails unless `actual` has all that `expected` has: objects may hold more fields, lists more items.
#[track_caller]
fn assert_contains(actual: &Value, expected: &Value, place: &str) {
    match (actual, expected) {
        (Value::Object(actual), Value::Object(expected)) => {
            for (key, value) in expected {
                let found = actual.get(key).unwrap_or_else(|| panic!("{place}/{key} is missing"));
                assert_contains(found, value, &format!("{place}/{key}"));
            }
        }
        (Value::Array(actual), Value::Array(expected)) => {
            assert!(actual.len() >= expected.len(), "{place} has {} items", actual.len());
            for (index, (actual, expected)) in actual.iter().zip(expected).enumerate() {
                assert_contains(actual, expected, &format!("{place}/{index}"));
            }
        }
        (Value::Number(actual), Value::Number(expected)) => {
            assert!(actual.as_f64() == expected.as_f64(), "{place}: {actual} is not {expected}");
        }
        (actual, expected) => assert_eq!(actual, expected, "{place}"),
    }
}

#[track_caller]
fn assert_answers_every_example(bench: &Bench) {
    for (name, example) in examples() {
        let tool = name.split(':').next().expect("a name");
        let (data, provenance) = bench.call(tool, example["arguments"].clone()).expect(&name);
        assert_contains(&data, &example["data"], &name);
        assert_eq!(json!(provenance.source_ids), json!([example["source_id"]]), "{name}");
        assert_eq!(json!(provenance.as_of), example["as_of"], "{name}");
    }
}

#[test]
fn the_embedded_data_contains_every_example() {
    assert_answers_every_example(&Bench::embedded());
}

/// The example sections put together, without any extension.
#[test]
fn a_master_file_in_exactly_the_form_of_000_is_served_unchanged() {
    let examples = examples();
    let section = |name: &str| examples[name]["data"].clone();
    let master = json!({
        "as_of": "2026-01-15",
        "account_summary": section("get_account_summary"),
        "activity": section("get_activity"),
        "positions": section("get_positions"),
        "quotes": section("get_quotes:AAPL,MSFT,VOO,TSLA"),
        "performance": section("get_performance"),
        "transfers": section("get_transfers"),
    });
    let roth = "# Roth IRA (Simulated)\n\nA Roth IRA is an account.\n";
    let files = [("user_master.json", master.to_string()), ("facts/roth_ira.md", roth.to_owned())];
    let files: Vec<_> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    let bench = Bench::with_files(&files).expect("the form of the examples is good");
    assert_answers_every_example(&bench);
    assert_eq!(bench.data("get_facts", json!({"topic": "Roth"}))["snippet"], "A Roth IRA is an account.");
    assert_eq!(
        bench.data("get_quotes", json!({"symbol": "TSLA"}))["quotes"].as_array().map(Vec::len),
        Some(1)
    );
}

#[test]
fn fields_appear_as_000_shows_them() {
    let bench = Bench::embedded();
    let position = &bench.data("get_positions", json!({"symbol": "aapl"}))["position"];
    let expected = json!({
        "symbol": "AAPL", "quantity": 42, "cost_basis": 150.25, "asset_class": "stocks", "total_cost": 6310.5,
        "name": position["name"],
    });
    assert_eq!(*position, expected);
    assert_eq!(bench.data("get_positions", json!({"symbol": "TSLA"}))["position"], Value::Null);
    let unfiltered = bench.data("get_positions_list", json!({}));
    assert!(unfiltered.get("asset_class_filter").is_none(), "{unfiltered}");
}
