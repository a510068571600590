//! Results that are kept for reading on: by their user and call, within quotas, and for a day.

use std::time::{Duration, SystemTime};

use crate::support::state;
use toolwire::{
    db::sql::Statement,
    state::{
        Store,
        idempotency::Quota,
        kept_results::{KeptResult, NewKeptResult, RETENTION},
    },
    tool::context::CallId,
};

use super::{in_file, now, provenance, user};

fn kept(text: impl Into<String>) -> KeptResult {
    let (tool, text) = ("get_news".parse().unwrap(), text.into());
    KeptResult { tool, text, tokens: 5, provenance: provenance(), expires_at: now() + RETENTION }
}

/// Keeps a result as of the instant at which it was made.
async fn keep(store: &Store, name: &str, result: &KeptResult) -> CallId {
    let call_id = CallId::generate();
    assert_eq!(keep_again(store, name, call_id, result).await, result.expires_at);
    call_id
}

async fn keep_again(store: &Store, name: &str, call_id: CallId, result: &KeptResult) -> SystemTime {
    let KeptResult { tool, text, tokens, provenance, expires_at } = result;
    let new = NewKeptResult { tool, text, tokens: *tokens, provenance };
    store.at_time(*expires_at - RETENTION).keep_result(&user(name), call_id, &new).await.unwrap()
}

#[tokio::test]
async fn a_kept_result_is_found_by_its_user_and_call_for_a_day_and_after_a_restart() {
    let (store, directory) = in_file();
    let result = kept(r#"{"naïve": "₹"}"#);
    let call_id = keep(&store, "riley", &result).await;
    drop(store);
    let store = state::at(directory.path());
    let last = RETENTION.saturating_sub(Duration::from_millis(1));
    let find = async |name: &str, call_id, later| {
        store.at_time(now() + later).kept_result(&user(name), call_id).await.unwrap()
    };
    assert_eq!(find("riley", call_id, last).await, Some(result));
    assert_eq!(find("riley", call_id, RETENTION).await, None);
    assert_eq!(find("sam", call_id, Duration::ZERO).await, None);
    assert_eq!(find("riley", CallId::generate(), Duration::ZERO).await, None);
}

#[tokio::test]
async fn a_result_that_is_kept_by_its_call_and_by_a_query_of_it_is_kept_once() {
    let (store, directory) = in_file();
    let (first, later) = (kept("[1]"), now() + Duration::from_secs(1));
    let call_id = keep(&store, "riley", &first).await;
    let again = KeptResult { expires_at: later + RETENTION, ..kept("[1]") };
    let expires_at = keep_again(&store, "riley", call_id, &again).await;
    assert_eq!(expires_at, first.expires_at);
    assert_eq!(state::problems(directory.path()).await, Vec::<String>::new());
}

#[tokio::test]
async fn the_oldest_give_way_where_a_quota_is_exceeded() {
    let directory = tempfile::tempdir().unwrap();
    let quota = Quota { of_user: 100_000, of_all: 150_000 };
    let store = state::at(directory.path()).with_kept_results_quota(quota);
    let is_there = async |name: &str, call_id| {
        store.at_time(now()).kept_result(&user(name), call_id).await.unwrap().is_some()
    };
    let of_sam = keep(&store, "sam", &kept("x".repeat(60_000))).await;
    let mut of_riley = Vec::new();
    for at in 0..38_u64 {
        let expires_at = now() + RETENTION + Duration::from_secs(at);
        of_riley.push(keep(&store, "riley", &KeptResult { expires_at, ..kept("x".repeat(2_000)) }).await);
    }
    assert!(is_there("riley", of_riley[37]).await && is_there("riley", of_riley[0]).await);
    // Sam's is the oldest of all.
    keep(&store, "riley", &kept("x".repeat(9_000))).await;
    assert!(!is_there("sam", of_sam).await);
    let large = keep(&store, "riley", &kept("x".repeat(90_000))).await;
    assert!(is_there("riley", large).await && !is_there("riley", of_riley[37]).await);
    assert_eq!(state::problems(directory.path()).await, Vec::<String>::new());
}

#[tokio::test]
async fn what_has_expired_is_swept_and_no_longer_counted() {
    let (store, directory) = in_file();
    for name in ["riley", "riley", "sam"] {
        keep(&store, name, &kept("[1]")).await;
    }
    let before = now() + RETENTION.saturating_sub(Duration::from_millis(1));
    while store.at_time(before).sweep_kept_results().await.unwrap() {}
    let rows = "SELECT count(*) FROM kept_results UNION ALL SELECT count(*) FROM kept_results_usage \
                UNION ALL SELECT bytes FROM kept_results_total";
    let count = async || state::rows(&store, Statement::<i64>::new(rows, Vec::new())).await;
    assert_eq!(count().await[..2], [3, 2]);
    while store.at_time(now() + RETENTION).sweep_kept_results().await.unwrap() {}
    assert_eq!(count().await, [0, 0, 0]);
    assert_eq!(state::problems(directory.path()).await, Vec::<String>::new());
}
