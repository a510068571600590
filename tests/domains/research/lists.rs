//! What an agent reads of the watch-list, the forum and deals: whose stocks, of which time, in which order, and what an
//! empty list means.

use serde_json::{Value, json};

use super::support::{Research, data};

const RECORDED: &str = "2026-01-16T10:00:00Z";

#[tokio::test]
async fn a_price_stands_beside_its_own_time_and_not_that_of_the_server() {
    let research = Research::embedded();
    let screen = data(research.call("browse_screener", json!({})).await);
    assert_eq!(screen["last_updated"], RECORDED);
    let again = data(research.call("browse_screener", json!({})).await);
    assert_eq!((&again["from_cache"], &again["last_updated"]), (&json!(true), &json!(RECORDED)));
    let watched = data(research.call("browse_watchlist", json!({"source": "all"})).await);
    for item in watched["items"].as_array().expect("a list") {
        assert_eq!(item["cmp_at"], RECORDED, "{item}");
    }
}

#[tokio::test]
async fn the_discussions_of_who_watches_one_stock_are_of_that_one() {
    let research = Research::embedded();
    data(research.call("browse_screener", json!({})).await);
    let of_screens = research.call("browse_valuepickr", json!({"category": "watchlist"})).await;
    let warnings = of_screens.provenance.warnings.join(" ");
    assert!(warnings.contains("10 of 58 stocks of the user's screens"), "{warnings}");
    data(research.call("add_to_watchlist", json!({"symbol": "RELIANCE"})).await);
    let own = research.call("browse_valuepickr", json!({"category": "watchlist"})).await;
    assert_eq!(own.provenance.warnings, [""; 0]);
    for topic in data(own)["topics"].as_array().expect("a list") {
        assert!(topic["title"].as_str().is_some_and(|title| title.contains("Reliance")), "{topic}");
    }
}

#[tokio::test]
async fn an_empty_watch_list_says_what_to_do() {
    let research = Research::embedded();
    for (source, words) in [
        ("user", "Add stocks with add_to_watchlist, or see"),
        ("screener", "Read a screen with browse_screener."),
        ("all", "Add stocks with add_to_watchlist, or read a screen with browse_screener."),
    ] {
        let result = research.call("browse_watchlist", json!({"source": source})).await;
        let [warning] = &result.provenance.warnings[..] else { panic!("{:?}", result.provenance) };
        assert!(!warning.contains('_'), "what tools are called is for models: {warning}");
        assert!(result.provenance.advice[0].starts_with(words), "{source}: {:?}", result.provenance);
    }
}

#[tokio::test]
async fn discussions_come_in_the_promised_order_and_can_be_looked_into() {
    let research = Research::embedded();
    let topics = async |category: &str| -> Vec<Value> {
        let found = research.call("browse_valuepickr", json!({"category": category, "limit": 25})).await;
        data(found)["topics"].as_array().expect("a list").clone()
    };
    data(research.call("add_to_watchlist", json!({"symbol": "RELIANCE"})).await);
    for category in ["latest", "watchlist"] {
        let times: Vec<_> = topics(category).await.iter().map(|it| it["last_activity"].to_string()).collect();
        assert!(times.is_sorted_by(|one, other| one >= other), "{category}: {times:?}");
    }
    let ranked: Value =
        serde_json::from_str(include_str!("../../../data/research/valuepickr/top.json")).expect("JSON");
    let ranked = ranked["topic_list"]["topics"].as_array().expect("a list");
    let top = topics("top").await;
    let slugs = |topics: &[Value]| topics.iter().map(|it| it["slug"].clone()).collect::<Vec<_>>();
    let ranked: Vec<_> = slugs(ranked).into_iter().filter(|slug| slugs(&top).contains(slug)).collect();
    assert_eq!(slugs(&top), ranked);
    let snapshot = research.app.registry.snapshot();
    let schema = snapshot.get("browse_valuepickr").expect("offered").definition.output_schema.to_string();
    assert!(schema.contains("of `top` in the order in which the forum ranks"), "{schema}");
    assert!(schema.contains("give it to `get_stock_thesis` as `query`"), "{schema}");
}

#[tokio::test]
async fn a_list_of_deals_says_which_days_it_is_about() {
    let research = Research::embedded();
    let month = data(research.call("get_insider_trading", json!({"symbol": "ITC", "days": 30})).await);
    assert_eq!((&month["from"], &month["to"]), (&json!("2025-12-17"), &json!("2026-01-16")));
    let year = research.call("get_insider_trading", json!({"symbol": "ITC", "days": 365})).await;
    let begins = "Deals are on record from 2025-11-19 on: of the days before, nothing is known.";
    assert_eq!(year.provenance.warnings, [begins]);
    assert_eq!(data(year)["from"], "2025-11-19");
}
