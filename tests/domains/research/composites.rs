//! Tools that call others: what their callers hear meanwhile, and what stops them.

use std::{collections::BTreeMap, time::Duration};

use serde_json::json;
use toolwire::engine::registry::Status;
use wiremock::{Mock, MockServer, ResponseTemplate, matchers::any};

use super::support::{Research, data};

#[tokio::test]
async fn the_wait_of_a_nested_call_is_told_to_the_caller_of_the_composite() {
    let server = MockServer::start().await;
    // The first request is still open when the second one has to wait.
    let answer = ResponseTemplate::new(404).set_delay(Duration::from_mins(1));
    Mock::given(any()).respond_with(answer).mount(&server).await;
    let research = Research::spaced("yahoo", &server.uri());
    let is_wait = |message: &str| message.starts_with("Waiting ") && message.ends_with("for Yahoo Finance");
    let arguments = json!({"symbols": ["RELIANCE", "TCS"]});
    let messages = research.progress_until("compare_stocks", arguments, is_wait).await;
    assert!(messages.iter().any(|message| is_wait(message)), "{messages:?}");
}

#[tokio::test]
async fn a_composite_is_degraded_while_the_source_of_what_it_calls_refuses_us() {
    let research = Research::embedded();
    let reason = "Yahoo Finance refuses to serve us. It is left alone until 2026-01-16T10:00:00Z.";
    let state =
        |tool: &str| research.app.registry.snapshot().get(tool).expect("offered").definition.status.clone();
    research.app.registry.set_refused(BTreeMap::from([("yahoo".to_owned(), reason.to_owned())]));
    for tool in ["get_technicals", "check_wait_zone", "compare_stocks", "check_forbidden"] {
        assert_eq!(state(tool), Status::Degraded(reason.to_owned()), "{tool}");
    }
    assert_eq!(state("browse_news"), Status::Ready);
    research.app.registry.set_refused(BTreeMap::new());
    assert_eq!(state("compare_stocks"), Status::Ready);
}

#[tokio::test]
async fn a_refused_part_degrades_what_cannot_do_without_it_and_nothing_else() {
    let research = Research::embedded();
    let reasons = ["Yahoo Finance refuses us access.", "Google News refuses to serve us."];
    let parts = ["yahoo/crumb", "news/google"].map(ToOwned::to_owned);
    research.app.registry.set_refused(parts.into_iter().zip(reasons.map(ToOwned::to_owned)).collect());
    let snapshot = research.app.registry.snapshot();
    let state = |tool: &str| snapshot.get(tool).expect("offered").definition.status.clone();
    let [crumb, google] = reasons.map(|reason| Status::Degraded(reason.to_owned()));
    for (tool, expected) in [
        ("get_fundamentals", &crumb),
        ("compare_stocks", &crumb),
        ("get_news", &google),
        ("get_technicals", &Status::Ready),
        // Goes on without what needs a crumb.
        ("get_earnings", &Status::Ready),
        ("browse_news", &Status::Ready),
    ] {
        assert_eq!(state(tool), *expected, "{tool}");
    }
}

#[tokio::test]
async fn browse_tools_are_answered_within_their_session_for_a_quarter_of_an_hour() {
    let research = Research::embedded();
    for tool in ["browse_news", "browse_reddit", "browse_valuepickr"] {
        let snapshot = research.app.registry.snapshot();
        let cache = snapshot.get(tool).and_then(|tool| tool.definition.cache).expect("cached");
        assert_eq!((cache.tier.into_str(), cache.ttl.as_secs()), ("session", 900), "{tool}");
    }
}

#[tokio::test]
async fn a_backtest_marks_what_is_cut_off_and_compares_like_with_like() {
    let research = Research::embedded();
    let arguments = json!({"symbols": ["INFY", "TCS"], "limit": 3});
    let result = research.call("backtest_filter", arguments).await;
    let begun = |symbol: &str| {
        format!(
            "{symbol} is played and compared from 2024-11-08, not from 2024-01-16: until then its rules had too few days \
             of prices, 200 days since 2024-01-16."
        )
    };
    let cut = "3 of 8 trades are shown.".to_owned();
    assert_eq!(result.provenance.warnings, [begun("INFY"), begun("TCS"), cut]);
    let shown = data(result);
    let trades = shown["trades"].as_array().expect("a list");
    let cut_off: Vec<_> = trades.iter().map(|trade| &trade["cut_off"]).collect();
    assert_eq!(cut_off, [&json!(false), &json!(true), &json!(true)], "{shown}");
    assert_eq!((&shown["summary"]["trades"], &shown["summary"]["cut_off_trades"]), (&json!(8), &json!(2)));
    // Of the six that ended: (6.94 + 10.34 + 3.02 + 1.35 + 13.15 - 14.67) / 6.
    assert_eq!(shown["summary"]["mean_return_pct"], json!(3.35));
    assert!(shown["summary"]["any_day_mean_return_pct"].is_number());
    assert!(shown["summary"].get("benchmark_return_pct").is_none());
    assert_eq!(shown["buy_and_hold"]["to"], json!("2026-01-16"));
}

#[tokio::test]
async fn a_long_list_is_cut_and_the_whole_is_counted() {
    let research = Research::embedded();
    let result = research.call("get_insider_trading", json!({"symbol": "SUZLON"})).await;
    assert_eq!(result.provenance.warnings, ["25 of 84 deals are shown."]);
    let shown = data(result);
    assert_eq!((shown["deals"].as_array().expect("a list").len(), &shown["deals_count"]), (25, &json!(84)));
    let screen = data(research.call("browse_screener", json!({"limit": 10})).await);
    assert_eq!(
        (screen["stocks"].as_array().expect("a list").len(), &screen["stocks_count"]),
        (10, &json!(58))
    );
}

#[tokio::test]
async fn no_tool_repeats_an_order_that_somebody_planted() {
    let research = Research::embedded();
    let result = research.call("get_stock_thesis", json!({"query": "SUZLON"})).await;
    let warnings = result.provenance.warnings.join(" ");
    assert!(warnings.contains("left out"), "{warnings}");
    let thesis = data(result);
    let shown = thesis.to_string();
    assert!(!shown.contains("trading mode") && !shown.contains("system prompt"), "{shown}");
    let mood = thesis["recent_sentiment"].as_str().expect("a text");
    assert!(mood.starts_with("Last 5 posts by word list: ") && mood.ends_with(")."), "{mood}");
    assert!(!thesis["excerpts"].as_array().expect("a list").is_empty());
}

#[tokio::test]
async fn a_bundled_company_has_holders_as_companies_have() {
    let research = Research::embedded();
    let holdings = data(research.call("get_institutional_holdings", json!({"symbol": "ASIANPAINT"})).await);
    for who in ["fii_pct", "dii_pct", "promoter_pct", "public_pct"] {
        let change = holdings["change_qoq"][who].as_f64().expect("a number");
        assert!(change.abs() < 1.5, "{who} changed by {change} points in three months: {holdings}");
    }
}
