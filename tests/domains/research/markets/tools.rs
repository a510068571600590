//! What each tool returns of the embedded data.

use serde_json::{Value, json};
use toolwire::domains::research::settings::Profiles;
use wiremock::MockServer;

use super::support::{Bases, Bench};

#[track_caller]
fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[track_caller]
fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("{value} is no list"))
}

#[tokio::test]
async fn technicals_are_those_of_the_last_day() {
    let bench = Bench::new();
    let (data, provenance) = bench.call("get_technicals", json!({"symbol": " reliance.ns "})).await;
    let data = data.unwrap();
    assert_eq!(data["symbol"], "RELIANCE");
    assert!((number(&data["current_price"]) - 1458.6).abs() < 1e-9);
    assert!((0.0..=100.0).contains(&number(&data["rsi_14"])));
    let mean = number(&data["sma_200"]);
    let above = 100.0 * (1458.6 - mean) / mean;
    assert!((number(&data["price_vs_sma200_pct"]) - above).abs() < 0.01, "{above}");
    assert_eq!(provenance.as_of, "2026-01-16");
    assert_eq!(provenance.source_ids, ["tool:yahoo:v1"]);
    assert_eq!(provenance.warnings, [""; 0]);
}

#[tokio::test]
async fn a_young_stock_has_the_indicators_that_its_days_suffice_for() {
    let bench = Bench::new();
    let hdb = bench.data("get_technicals", json!({"symbol": "HDBFS"})).await;
    assert!(hdb["sma_50"].is_number() && hdb["sma_200"].is_null() && hdb["price_vs_sma200_pct"].is_null());
    let meesho = bench.data("get_technicals", json!({"symbol": "MEESHO"})).await;
    assert!(meesho["rsi_14"].is_number() && meesho["sma_50"].is_null());
}

#[tokio::test]
async fn symbols_with_signs_reach_their_stock() {
    let bench = Bench::new();
    for symbol in ["M&M", "BAJAJ-AUTO"] {
        let technicals = bench.data("get_technicals", json!({"symbol": symbol})).await;
        assert_eq!(technicals["symbol"], symbol);
        let holdings = bench.data("get_institutional_holdings", json!({"symbol": symbol})).await;
        assert_eq!(holdings["symbol"], symbol);
    }
}

#[tokio::test]
async fn what_can_be_no_symbol_of_the_exchange_is_asked_of_nobody() {
    // Knows nothing, and keeps what it was asked.
    let server = MockServer::start().await;
    let base = |path: &str| format!("{}/{path}", server.uri()).parse().unwrap();
    let bases = Bases { yahoo: base("yahoo/"), cookie: base("cookie/"), nse: base("nse/") };
    let bench = Bench::of(bases, &Profiles::default());
    let asked = async || server.received_requests().await.expect("requests are kept");
    let tools = ["get_technicals", "get_fundamentals", "get_earnings", "get_institutional_holdings"];
    for symbol in ["^NSEI", "BF/B", "A/../B", "GOLD=X", "%26", "ＡＡＰＬ"] {
        for tool in tools {
            let error = bench.error(tool, json!({"symbol": symbol})).await;
            assert_eq!(error.code.into_str(), "NOT_FOUND", "{tool} {symbol}: {error:?}");
            assert!(error.message.starts_with("Unknown symbol '"), "{tool} {symbol}: {error:?}");
        }
        assert!(asked().await.is_empty(), "{symbol}");
    }
    // What can be one is asked for, within its segment.
    bench.error("get_technicals", json!({"symbol": "M&M"})).await;
    let requests = asked().await;
    let paths: Vec<_> = requests.iter().map(|request| request.url.path()).collect();
    assert_eq!(paths, ["/yahoo/v8/finance/chart/M&M.NS"]);
}

#[tokio::test]
async fn fundamentals_are_in_the_units_that_they_say() {
    let bench = Bench::new();
    let data = bench.data("get_fundamentals", json!({"symbol": "ASIANPAINT"})).await;
    assert_eq!(data["currency"], "INR");
    assert_eq!(data["as_of"], "2026-01-16");
    assert!(data["name"].as_str().unwrap().contains("Asian Paints"));
    assert!((number(&data["market_cap_cr"]) - 264_642.31).abs() < 1e-9);
    assert!((number(&data["roe_pct"]) - 19.8).abs() < 1e-9);
    assert!((number(&data["debt_to_equity"]) - 0.12).abs() < 1e-9);
    assert!(data.get("roce_pct").is_none());
}

#[tokio::test]
async fn the_price_to_earnings_of_a_loss_is_computed_and_said_to_be() {
    let (data, provenance) = Bench::new().call("get_fundamentals", json!({"symbol": "IDEA"})).await;
    let data = data.unwrap();
    assert!(number(&data["pe"]) < 0.0, "{data}");
    assert_eq!(
        provenance.warnings,
        [
            "Yahoo Finance states no price to earnings, so `pe` is the price divided by the earnings per share of the last twelve \
         months. It is negative because the company made a loss."
        ]
    );
}

#[tokio::test]
async fn earnings_come_newest_first_with_growth_over_a_year() {
    let bench = Bench::new();
    let (data, provenance) = bench.call("get_earnings", json!({"symbol": "TCS"})).await;
    let data = data.unwrap();
    let quarters = list(&data["quarters"]);
    let periods: Vec<_> = quarters.iter().map(|quarter| quarter["period"].as_str().unwrap()).collect();
    assert_eq!(periods, ["Q3 FY26", "Q2 FY26", "Q1 FY26", "Q4 FY25"]);
    let newest = &quarters[0];
    assert_eq!(provenance.as_of, newest["date"].as_str().unwrap());
    let (actual, estimate) = (number(&newest["eps_actual"]), number(&newest["eps_estimate"]));
    let surprise = 100.0 * (actual - estimate) / estimate;
    assert!((number(&newest["surprise_pct"]) - surprise).abs() < 0.01);
    assert!(quarters.iter().all(|quarter| quarter["yoy_revenue_pct"].is_number()));
    assert_eq!(data["currency"], "INR");
}

#[tokio::test]
async fn more_deals_than_the_json_shows_are_found() {
    let bench = Bench::new();
    let data =
        bench.data("get_insider_trading", json!({"symbol": "SUZLON", "days": 365, "limit": 500})).await;
    let deals = list(&data["deals"]);
    assert!(deals.len() > 70, "{}", deals.len());
    assert_eq!(data["data_kind"], "bulk_and_block_deals");
    let dates: Vec<_> = deals.iter().map(|deal| deal["date"].as_str().unwrap()).collect();
    assert!(dates.is_sorted_by(|one, other| one >= other));
    let signed =
        |deal: &Value| if deal["side"] == "BUY" { 1 } else { -1 } * deal["quantity"].as_i64().unwrap();
    assert_eq!(data["net_quantity"], deals.iter().map(signed).sum::<i64>());
    let first = &deals[0];
    let crore = number(&first["quantity"]) * number(&first["price"]) / 1e7;
    assert!((number(&first["value_cr"]) - crore).abs() < 0.01);
}

#[tokio::test]
async fn a_list_of_results_that_is_too_short_says_where_they_begin() {
    let bench = Bench::new();
    let (some, provenance) = bench.call("get_earnings", json!({"symbol": "TCS", "quarters": 1})).await;
    let begin = some.unwrap()["available_from"].as_str().unwrap().to_owned();
    assert!(begin.as_str() < "2025-03-31" && provenance.warnings.is_empty(), "{begin}");
    let (all, provenance) = bench.call("get_earnings", json!({"symbol": "TCS", "quarters": 25})).await;
    let all = all.unwrap();
    let quarters = list(&all["quarters"]);
    assert_eq!(all["available_from"], quarters[quarters.len() - 1]["date"]);
    let words = format!(": {} of the 25 quarters asked for.", quarters.len());
    assert!(provenance.warnings.iter().any(|it| it.ends_with(&words)), "{:?}", provenance.warnings);
}

#[tokio::test]
async fn holdings_are_shares_of_the_whole() {
    let bench = Bench::new();
    let (data, provenance) = bench.call("get_institutional_holdings", json!({"symbol": "ASIANPAINT"})).await;
    let data = data.unwrap();
    let rounded = |name: &str| format!("{:.2}", number(&data[name]));
    assert_eq!(data["as_of"], "2025-12-31");
    assert_eq!((rounded("fii_pct"), rounded("dii_pct")), ("20.12".to_owned(), "7.92".to_owned()));
    let whole: f64 =
        ["fii_pct", "dii_pct", "promoter_pct", "public_pct"].iter().map(|name| number(&data[*name])).sum();
    assert!((whole - 100.0).abs() < 0.03);
    assert!(data["change_qoq"]["fii_pct"].is_number());
    assert!(data["market"]["fii_net_cr"].is_number());
    assert_eq!(provenance.source_ids, ["tool:nse:v1"]);
    assert_eq!(provenance.warnings, [""; 0]);
}
