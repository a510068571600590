//! Two users: nothing of one is seen by the other, except results that a manifest marks as shared.

use serde_json::json;
use toolwire::{
    contract::{ErrorCode, ToolResult},
    sources::upstream::settings::{Settings, SourceSettings},
};

use super::support::{Research, data, embedded};

fn is_cached(result: &ToolResult) -> bool {
    result.provenance.cached_for.is_some()
}

#[tokio::test]
async fn a_watch_list_is_its_users_own() {
    let research = Research::embedded();
    data(research.call_as("asha", "add_to_watchlist", json!({"symbol": "TCS", "note": "asha's own"})).await);
    let own = data(research.call_as("asha", "browse_watchlist", json!({})).await);
    let others = data(research.call_as("ravi", "browse_watchlist", json!({})).await);
    assert_eq!(own["items"][0]["note"], "asha's own");
    assert_eq!(others, json!({"items": [], "items_count": 0}));
    let removed = data(research.call_as("ravi", "remove_from_watchlist", json!({"symbol": "TCS"})).await);
    assert_eq!(removed["removed"], false);
    assert_eq!(data(research.call_as("asha", "browse_watchlist", json!({})).await), own);
}

#[tokio::test]
async fn a_result_of_ones_own_answers_nobody_else() {
    let research = Research::embedded();
    let watched = json!({"category": "watchlist"});
    data(research.call_as("asha", "add_to_watchlist", json!({"symbol": "TATAMOTORS"})).await);
    let first = research.call_as("asha", "browse_valuepickr", watched.clone()).await;
    let again = research.call_as("asha", "browse_valuepickr", watched.clone()).await;
    assert!(!is_cached(&first) && is_cached(&again));
    assert_ne!(data(again)["topics"], json!([]));
    let other = research.call_as("ravi", "browse_valuepickr", watched).await;
    assert!(!is_cached(&other));
    assert_eq!(data(other)["topics"], json!([]));
}

#[tokio::test]
async fn a_shared_result_answers_everybody() {
    let research = Research::embedded();
    let symbol = json!({"symbol": "RELIANCE"});
    assert!(!is_cached(&research.call_as("asha", "get_technicals", symbol.clone()).await));
    assert!(is_cached(&research.call_as("ravi", "get_technicals", symbol).await));
}

#[tokio::test]
async fn a_budget_is_its_users_own_and_the_ceiling_is_everybodys() {
    let yahoo =
        SourceSettings { max_requests: Some(1), ceiling_max_requests: Some(2), ..SourceSettings::default() };
    let sources = Settings { sources: [("yahoo".to_owned(), yahoo)].into(), ..Settings::default() };
    let research = Research::of(embedded().with(sources));
    let technicals = async |user, symbol| {
        let result = research.call_as(user, "get_technicals", json!({"symbol": symbol})).await;
        result.outcome.map(|_| ()).map_err(|error| error.code)
    };
    assert_eq!(technicals("asha", "RELIANCE").await, Ok(()));
    assert_eq!(technicals("asha", "TCS").await, Err(ErrorCode::RateLimited), "her own budget is spent");
    assert_eq!(technicals("ravi", "TCS").await, Ok(()), "his is not");
    assert_eq!(technicals("mira", "INFY").await, Err(ErrorCode::RateLimited), "the ceiling is");
}
