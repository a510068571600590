//! Wordings of many kinds, a mechanism each: prices of either market, misspelt words, Hinglish, two wishes.

use serde_json::Value;
use toolwire::planner::{PlannedCall, Step};

use super::offered::Bench;

/// The calls for a message, each as its tool with the values of its arguments; empty without one.
fn calls(bench: &Bench, said: &str) -> Vec<String> {
    let Step::Call(calls) = bench.decide(&[], said).step else { return Vec::new() };
    let value = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let shown = |call: &PlannedCall| {
        let values = call.arguments.values().map(value);
        std::iter::once(call.tool.clone()).chain(values).collect::<Vec<_>>().join(" ")
    };
    calls.iter().map(shown).collect()
}

#[track_caller]
fn check(all: &[(&str, &[&str])]) {
    let bench = Bench::new();
    for (said, expected) in all {
        assert_eq!(calls(&bench, said), *expected, "{said}");
    }
}

#[test]
fn a_price_is_looked_up_in_the_market_of_the_stock() {
    check(&[
        ("Reliance share price", &["get_technicals RELIANCE"]),
        ("Where is TCS trading right now?", &["get_technicals TCS"]),
        ("what is wipro going for", &["get_technicals WIPRO"]),
        ("cmp of infosys", &["get_technicals INFY"]),
        ("Price of Infosys and TCS", &["get_technicals INFY", "get_technicals TCS"]),
        ("Apple share price", &["get_quotes AAPL"]),
    ]);
}

#[test]
fn names_in_a_row_are_one_wish() {
    check(&[("Current prices of Apple and Microsoft", &["get_quotes AAPL,MSFT"])]);
}

#[test]
fn a_verb_that_says_not_what_is_done_changes_nothing() {
    check(&[(
        "put TCS, Infosys and Wipro next to each other",
        &["compare_stocks [\"TCS\",\"INFY\",\"WIPRO\"]"],
    )]);
}
