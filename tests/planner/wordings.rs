//! Prices of either market, and orders that no tool carries out.

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
pub(super) fn check(all: &[(&str, &[&str])]) {
    let bench = Bench::new();
    let wrong = |(said, expected): &(&str, &[&str])| {
        let calls = calls(&bench, said);
        (calls != *expected).then(|| format!("{said}: {calls:?}"))
    };
    assert_eq!(all.iter().filter_map(wrong).collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn a_price_is_looked_up_in_the_market_of_the_stock() {
    check(&[
        ("Reliance share price", &["get_technicals RELIANCE"]),
        ("Where is TCS trading right now?", &["get_technicals TCS"]),
        ("what is wipro going for", &["get_technicals WIPRO"]),
        ("Apple share price", &["get_quotes AAPL"]),
    ]);
}

#[test]
fn a_common_word_is_never_a_misspelt_one() {
    check(&[("Where can I plant a palace?", &[]), ("Which form should I sign?", &[])]);
}

#[test]
fn an_order_to_move_money_is_refused() {
    let bench = Bench::new();
    for said in ["Move $2,000 from Brokerage to Retirement", "Put 500 dollars into VOO"] {
        let step = bench.decide(&[], said).step;
        assert!(matches!(step, Step::Refuse(_)), "{said}: {step:?}");
    }
}
