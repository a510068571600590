//! Guidance for a planner, made from manifests and budgets.

use std::time::Duration;

use serde_json::json;
use toolwire::{
    engine::registry::{DisabledTool, Registry, RegistryInput, guidance_for_planner},
    sources::upstream::{limiter::Budget, source_status::SourceBudget},
};

use super::support::{Data, manifest};

fn budget(name: &str, title: &str, max_requests: u32, window: u64, min_delay: u64) -> SourceBudget {
    let budget = Budget {
        max_requests,
        window: Duration::from_secs(window),
        min_delay: Duration::from_secs(min_delay),
    };
    SourceBudget { name: name.to_owned(), title: title.to_owned(), budget }
}

fn reading(name: &str, source: &str, guidance: &[&str]) -> serde_json::Value {
    manifest(name, &json!({"source": {"name": source}, "guidance": guidance}))
}

#[test]
fn budgets_priorities_and_sections_are_told_each_once() {
    let data = Data::with(&[
        reading(
            "browse_screener",
            "screener",
            &[
                "browse_screener returns CACHED data (usually <24h old)",
                "Do NOT repeatedly call browse_screener in one cycle",
            ],
        ),
        reading("browse_valuepickr", "valuepickr", &[]),
        reading("get_stock_thesis", "valuepickr", &["Prioritize: A thesis before technicals."]),
        reading("get_technicals", "yahoo", &[]),
        reading("get_fundamentals", "yahoo", &["Ratios are trailing.", "Ratios are trailing."]),
        reading(
            "get_holdings",
            "files",
            &["Prioritize: Check holdings first, then watchlist, then discovery."],
        ),
        manifest("think", &json!({"guidance": ["Think once."]})),
        manifest("think_again", &json!({"guidance": ["Think once."]})),
    ]);
    let budgets = [
        budget("news", "News", 12, 60, 5),
        budget("nse", "NSE", 1, 90, 0),
        budget("screener", "Screener", 6, 60, 10),
        budget("valuepickr", "ValuePickr", 12, 60, 5),
        budget("yahoo", "Yahoo Finance", 60, 60, 1),
    ];
    insta::assert_snapshot!(guidance_for_planner(data.open().snapshot().tools(), &budgets));
}

#[test]
fn a_disabled_tool_is_not_named() {
    let untrusted = |name: &str| {
        let said = format!("Call {name} once.");
        manifest(name, &json!({"source": {"name": "news"}, "guidance": [said], "untrusted": true}))
    };
    let data = Data::with(&[untrusted("browse_news"), untrusted("get_news")]);
    let disabled = vec![DisabledTool { tool: "get_news", reason: "nothing is configured".to_owned() }];
    let registry = Registry::open(RegistryInput { disabled, ..data.offered() }).expect("opens");
    let guidance = guidance_for_planner(registry.snapshot().tools(), &[budget("news", "News", 12, 60, 5)]);
    assert!(guidance.contains("browse_news") && !guidance.contains("get_news"), "{guidance}");
}

#[test]
fn windows_have_words() {
    let data = Data::with(&[reading("a", "s", &[])]);
    let snapshot = data.open().snapshot();
    let of = |max_requests, window, min_delay| {
        let text =
            guidance_for_planner(snapshot.tools(), &[budget("s", "S", max_requests, window, min_delay)]);
        text.lines().nth(1).expect("a line").to_owned()
    };
    assert_eq!(
        of(1, 86_400, 0),
        "- S tools: Max 1 call per cycle. Use sparingly. (a: at most 1 request a day.)"
    );
    assert_eq!(of(3, 1, 0), "- S tools: Can be called more freely (3/s). (a: at most 3 requests a second.)");
    assert_eq!(
        of(10, 90, 2),
        "- S tools: Max 10 calls per cycle. Use sparingly. (a: at most 10 requests in 90 s, 2 s apart.)"
    );
    assert_eq!(
        of(3600, 3600, 0),
        "- S tools: Can be called more freely (3600/h). (a: at most 3600 requests an hour.)"
    );
}

#[test]
fn without_anything_to_say_nothing_is_said() {
    let data = Data::with(&[manifest("get_quotes", &json!({"source": {"name": "files"}}))]);
    assert_eq!(guidance_for_planner(data.open().snapshot().tools(), &[budget("news", "News", 1, 1, 1)]), "");
}
