//! What the tools refuse, and what they make of sources that fail.

use serde_json::{Value, json};
use toolwire::domains::research::tools::Profiles;
use wiremock::{Mock, MockServer, ResponseTemplate, matchers::any};

use super::support::{Bases, Bench};

/// The input of a tool that asks about one stock.
fn asking(tool: &str, symbol: &str) -> Value {
    match tool {
        "backtest_filter" => json!({"symbols": [symbol]}),
        _ => json!({"symbol": symbol}),
    }
}

#[tokio::test]
async fn an_unknown_symbol_is_answered_with_near_ones() {
    let bench = Bench::new();
    let tools = [
        "get_technicals",
        "get_fundamentals",
        "get_earnings",
        "check_wait_zone",
        "check_forbidden",
        "get_institutional_holdings",
        "backtest_filter",
    ];
    for tool in tools {
        let error = bench.error(tool, asking(tool, "RELIANSE")).await;
        assert_eq!(error.code.name(), "NOT_FOUND", "{tool}: {error:?}");
        assert!(
            error.message.contains("'RELIANSE'") && error.message.contains("RELIANCE"),
            "{tool}: {error:?}"
        );
        assert!(!error.retryable);
    }
}

#[tokio::test]
async fn a_name_stands_for_its_symbol_and_a_part_of_it_is_a_question() {
    let bench = Bench::new();
    let data = bench.data("get_technicals", json!({"symbol": "Tata Consultancy"})).await;
    assert_eq!(data["symbol"], "TCS");
    let error = bench.error("get_technicals", json!({"symbol": "Larsen"})).await;
    assert_eq!(error.code.name(), "NOT_FOUND");
    assert!(error.message.contains("Did you mean LT (Larsen & Toubro)?"), "{}", error.message);
}

#[tokio::test]
async fn arguments_beyond_the_schema_are_refused() {
    let bench = Bench::new();
    let many: Vec<_> = (0..51).map(|number| format!("S{number}")).collect();
    let bad = [
        ("get_technicals", json!({}), ""),
        ("get_earnings", json!({"symbol": "TCS", "quarters": 26}), "25"),
        ("compare_stocks", json!({"symbols": ["TCS"]}), "2"),
        ("compare_stocks", json!({"symbols": ["TCS", " tcs.ns"]}), "two to five"),
        ("compare_stocks", json!({"symbols": ["A", "B", "C", "D", "E", "F"]}), "5"),
        ("backtest_filter", json!({"symbols": many}), "50"),
        ("backtest_filter", json!({"symbols": ["TCS"], "from": "2025-02-30"}), "2025-02-30"),
        ("backtest_filter", json!({"symbols": ["TCS"], "from": "soon"}), ""),
        (
            "backtest_filter",
            json!({"symbols": ["TCS"], "from": "2025-06-01", "to": "2025-01-01"}),
            "not before",
        ),
        ("backtest_filter", json!({"symbols": ["TCS"], "holding_days": 0}), "1"),
    ];
    for (tool, input, words) in bad {
        let error = bench.error(tool, input.clone()).await;
        assert_eq!(error.code.name(), "INVALID_ARGUMENT", "{tool} {input}: {error:?}");
        assert!(error.message.contains(words), "{tool} {input}: {error:?}");
    }
}

/// A server that always answers the same.
async fn always(response: ResponseTemplate) -> MockServer {
    let server = MockServer::start().await;
    Mock::given(any()).respond_with(response).mount(&server).await;
    server
}

#[tokio::test]
async fn another_failure_of_one_stock_is_the_comparisons() {
    let server = always(ResponseTemplate::new(403)).await;
    let yahoo = format!("{}/yahoo/", server.uri()).parse().unwrap();
    let bench = Bench::of(Bases { yahoo, ..Bases::default() }, Profiles::default());
    let error = bench.error("compare_stocks", json!({"symbols": ["INFY", "TCS"]})).await;
    assert_eq!(error.code.name(), "BLOCKED");
    assert!(error.message.contains("Yahoo Finance"), "{}", error.message);
}

#[tokio::test]
async fn without_a_crumb_results_are_those_that_need_none() {
    let server = always(ResponseTemplate::new(404)).await;
    let cookie = format!("{}/", server.uri()).parse().unwrap();
    let bench = Bench::of(Bases { cookie, ..Bases::default() }, Profiles::default());
    let (data, provenance) = bench.call("get_earnings", json!({"symbol": "TCS"})).await;
    let data = data.unwrap();
    let newest = &data["quarters"][0];
    assert!(newest["revenue_cr"].is_number() && newest["eps_actual"].is_null(), "{newest}");
    assert!(provenance.warnings[0].starts_with("Earnings per share is missing"), "{provenance:?}");
    let error = bench.error("get_fundamentals", json!({"symbol": "TCS"})).await;
    assert_eq!(error.code.name(), "PARSE_ERROR", "there the crumb is needed");
}

#[tokio::test]
async fn without_the_exchange_results_are_only_fewer() {
    let server = always(ResponseTemplate::new(503)).await;
    let nse = format!("{}/", server.uri()).parse().unwrap();
    let bench = Bench::of(Bases { nse, ..Bases::default() }, Profiles::default());
    let (data, provenance) = bench.call("get_earnings", json!({"symbol": "TCS", "quarters": 25})).await;
    assert!(data.unwrap()["quarters"].as_array().unwrap().len() >= 8);
    assert!(provenance.warnings[0].contains("on file is missing: NSE is down"), "{provenance:?}");
    let error = bench.error("get_institutional_holdings", json!({"symbol": "TCS"})).await;
    assert_eq!((error.code.name(), error.retryable), ("UNAVAILABLE", true));
}
