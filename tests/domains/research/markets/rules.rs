//! The wait zone, the rules against buying, and their replay of the past.

use serde_json::{Value, json};
use toolwire::domains::research::settings::{self, Forbidden, WaitZone};

use super::support::{Bases, Bench};

/// A deployment with rules of its own.
fn deployment() -> Bench {
    let mut profiles = settings::Profiles::default();
    let anything = WaitZone { max_rsi: Some(100.0), ..WaitZone::default() };
    profiles.wait_zone.insert("anything".to_owned(), anything);
    let cheap = Forbidden { min_price: Some(1e9), deny: vec!["TCS".to_owned()], ..Forbidden::default() };
    profiles.forbidden.insert("cheap".to_owned(), cheap);
    Bench::of(Bases::default(), &profiles)
}

#[tokio::test]
async fn the_wait_zone_agrees_with_the_technicals() {
    let bench = Bench::new();
    for symbol in ["RELIANCE", "TCS", "INFY", "ITC"] {
        let technicals = bench.data("get_technicals", json!({"symbol": symbol})).await;
        let zone = bench.data("check_wait_zone", json!({"symbol": symbol})).await;
        let number = |name: &str| technicals[name].as_f64().unwrap();
        let waits = number("rsi_14") > 40.0
            || number("price_vs_sma50_pct") > 15.0
            || number("price_vs_sma200_pct") > 40.0;
        assert_eq!(zone["is_wait_zone"], waits, "{technicals} {zone}");
        assert_eq!(zone["reasons"].as_array().unwrap().is_empty(), !waits);
    }
}

#[tokio::test]
async fn a_stock_without_enough_history_is_waited_for() {
    let (zone, provenance) = Bench::new().call("check_wait_zone", json!({"symbol": "HDBFS"})).await;
    let zone = zone.unwrap();
    assert_eq!(zone["is_wait_zone"], true);
    let days = Bench::new().data("get_technicals", json!({"symbol": "HDBFS"})).await["days"].clone();
    let too_few = format!("insufficient history: SMA200 needs 200 days of prices, there are {days}");
    assert!(zone["reasons"].as_array().unwrap().contains(&json!(too_few)), "{zone}");
    assert_eq!((&zone["profile"], &zone["as_of"]), (&json!("value"), &json!("2026-01-16")));
    assert_eq!(provenance.source_ids, ["tool:yahoo:v1"], "that of the nested call");
}

#[tokio::test]
async fn a_company_that_makes_losses_is_forbidden_and_what_is_not_known_is_said() {
    let data = Bench::new().data("check_forbidden", json!({"symbol": "IDEA"})).await;
    assert_eq!(data["is_forbidden"], true);
    assert_eq!((&data["profile"], &data["as_of"]), (&json!("default"), &json!("2026-01-16")));
    let rules = |list: &Value| -> Vec<String> {
        list.as_array().unwrap().iter().map(|it| it["rule"].as_str().unwrap().to_owned()).collect()
    };
    assert!(rules(&data["violations"]).contains(&"min_pe".to_owned()), "{data}");
    assert_eq!(rules(&data["unknown"]), ["min_roe_pct", "max_debt_to_equity"]);
}

#[tokio::test]
async fn a_sound_company_is_not_forbidden() {
    let data = Bench::new().data("check_forbidden", json!({"symbol": "ASIANPAINT"})).await;
    assert_eq!((&data["is_forbidden"], &data["violations"]), (&json!(false), &json!([])));
    assert_eq!(data["unknown"], json!([]), "the turnover is known too");
}

#[tokio::test]
async fn a_deployment_has_rules_of_its_own() {
    let bench = deployment();
    let data = bench.data("check_forbidden", json!({"symbol": "TCS", "profile": "cheap"})).await;
    let rules: Vec<_> = data["violations"].as_array().unwrap().iter().map(|it| it["rule"].clone()).collect();
    assert_eq!(rules, ["deny", "min_price"]);
    let zone = bench.data("check_wait_zone", json!({"symbol": "TCS", "profile": "anything"})).await;
    assert_eq!(zone["is_wait_zone"], false);
}

#[tokio::test]
async fn an_unknown_profile_is_answered_with_the_known_ones() {
    let bench = deployment();
    for tool in ["check_wait_zone", "backtest_filter"] {
        let mut input = json!({"symbol": "TCS", "profile": "agressive"});
        if tool == "backtest_filter" {
            input = json!({"symbols": ["TCS"], "profile": "agressive"});
        }
        let error = bench.error(tool, input).await;
        assert_eq!(error.code.into_str(), "INVALID_ARGUMENT");
        assert!(error.message.contains(r#""anything", "core", "momentum", "value""#), "{}", error.message);
        assert_eq!(error.violations[0].pointer, "/profile");
    }
    let error = bench.error("check_forbidden", json!({"symbol": "TCS", "profile": "value"})).await;
    assert!(error.message.contains(r#""cheap", "default""#), "{}", error.message);
}

#[tokio::test]
async fn a_backtest_trades_by_the_rules_and_counts_them() {
    let input = json!({"symbols": ["RELIANCE", "tcs", "INFY"], "profile": "anything", "holding_days": 30,
        "from": "2025-01-01", "to": "2025-12-31"});
    let (data, provenance) = deployment().call("backtest_filter", input).await;
    let data = data.unwrap();
    let trades = data["trades"].as_array().unwrap();
    assert_eq!(data["summary"]["trades"], trades.len());
    assert!(trades.len() >= 3 * 10, "one after the other, all year: {}", trades.len());
    for trade in trades {
        let day = |name: &str| trade[name].as_str().unwrap().to_owned();
        assert!("2025-01-01" <= day("entered").as_str() && day("exited").as_str() <= "2025-12-31");
        let (entry, exit) = (trade["entry"].as_f64().unwrap(), trade["exit"].as_f64().unwrap());
        let gain = 100.0 * (exit - entry) / entry;
        assert!((trade["return_pct"].as_f64().unwrap() - gain).abs() < 0.01);
    }
    assert_eq!(provenance.as_of, "2025-12-31");
    assert!(data["summary"]["any_day_mean_return_pct"].is_number());
    assert!(data["buy_and_hold"]["total_return_pct"].is_number());
}

#[tokio::test]
async fn a_backtest_refuses_rules_on_fundamentals() {
    let error =
        deployment().error("backtest_filter", json!({"symbols": ["TCS"], "profile": "default"})).await;
    // It is none of the words that there are.
    assert_eq!(error.code.into_str(), "INVALID_ARGUMENT");
    let data = deployment().data("backtest_filter", json!({"symbols": ["INFY"], "profile": "cheap"})).await;
    assert_eq!(data["trades"], json!([]), "rules on prices can be replayed");
    assert!(data["summary"]["hit_rate_pct"].is_null());
}
