//! Screener.in: one scrape a day and user, whatever happens, also across processes and restarts.

use std::{
    process::{Command, Stdio},
    time::Duration,
};

use serde_json::{Value, json};
use toolwire::{contract::ErrorCode, tool::context::User};
use wiremock::{Mock, MockServer, ResponseTemplate, matchers::any};

use super::support::{Research, data, embedded};

#[tokio::test]
async fn two_processes_on_one_state_file_scrape_once() {
    let state = tempfile::tempdir().expect("a directory");
    let browse = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolwire"));
        command.args(["call", "browse_screener", "--state"]).arg(state.path());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started")
    };
    let ends = [browse(), browse()].map(|child| child.wait_with_output().expect("ended"));
    let scraped = ends.iter().filter(|end| is_scraped(&end.stdout)).count();
    let shown = ends
        .each_ref()
        .map(|end| String::from_utf8_lossy(&end.stdout).into_owned() + &String::from_utf8_lossy(&end.stderr));
    assert_eq!(scraped, 1, "{shown:#?}");
    assert!(
        ends.iter().all(|end| end.status.success()),
        "the other one answers from what it wrote: {shown:#?}"
    );
}

fn is_scraped(stdout: &[u8]) -> bool {
    String::from_utf8_lossy(stdout).replace(' ', "").contains("\"from_cache\":false,\"cache_age_hours\"")
        || String::from_utf8_lossy(stdout)
            .lines()
            .any(|line| line.replace(' ', "").starts_with("\"from_cache\":false"))
}

#[tokio::test]
async fn a_403_is_not_tried_again_after_a_restart() {
    let server = MockServer::start().await;
    Mock::given(any()).respond_with(ResponseTemplate::new(403)).mount(&server).await;
    let research = Research::against("screener", &server.uri());
    let refused = |result: toolwire::contract::ToolResult| result.outcome.expect_err("refused");
    let first = refused(research.call("browse_screener", json!({})).await);
    assert_eq!((first.code, first.retryable, first.attempts), (ErrorCode::Blocked, false, 1));
    let again = refused(research.again().call("browse_screener", json!({})).await);
    assert!(
        matches!(again.code, ErrorCode::Blocked | ErrorCode::RateLimited) && again.retry_after.is_some(),
        "{again:?}"
    );
    let other = refused(research.again().call_as("riley", "browse_screener", json!({})).await);
    assert_eq!(other.code, ErrorCode::Blocked, "a block hits everyone");
    assert!(other.retry_after.is_some());
    assert_eq!(server.received_requests().await.expect("recorded").len(), 1);
}

#[tokio::test]
async fn limits_show_that_the_scrape_of_the_day_is_spent_and_of_whom() {
    let research = Research::embedded();
    let standing = async |user: &str| {
        let user = User::new(user.parse().expect("a user id"));
        let found = research.app.tools.limits(&user, "screener").await.expect("a source");
        found.into_iter().next().expect("one").1
    };
    assert!(standing("demo").await.can_make_request());
    data(research.call("browse_screener", json!({})).await);
    let spent = standing("demo").await;
    assert!(spent.wait_time > Duration::from_hours(23), "{spent:?}");
    let reason = spent.reason.expect("why");
    let why =
        "The scrape of the day is spent; what it brought is returned meanwhile. It is asked again from 20";
    assert!(reason.starts_with(why) && reason.ends_with("(in 24 h)."), "{reason}");
    assert!(standing("riley").await.can_make_request());
}

#[tokio::test]
async fn browsing_a_screen_leaves_the_users_watch_list_as_it_is() {
    let research = Research::of(embedded());
    let screen = research.call("browse_screener", json!({})).await;
    let warnings = screen.provenance.warnings.join("\n");
    assert!(warnings.contains("embedded data, recorded on 2026-01-16"), "{warnings}");
    let screen = data(screen);
    let own = data(research.call("browse_watchlist", json!({})).await);
    assert_eq!((&own["items"], &own["items_count"]), (&json!([]), &json!(0)));
    let screened = data(research.call("browse_watchlist", json!({"source": "screener"})).await);
    let symbols = |list: &Value| -> Vec<Value> {
        list.as_array().expect("a list").iter().map(|it| it["symbol"].clone()).collect()
    };
    let screened_symbols = symbols(&screened["items"]);
    assert!(symbols(&screen["stocks"]).iter().all(|symbol| screened_symbols.contains(symbol)));
    for item in screened["items"].as_array().expect("a list") {
        assert_eq!(item["source"], "screener");
        assert_eq!((&item["added_at"], &item["updated_at"]), (&item["cmp_at"], &item["cmp_at"]), "{item}");
    }
}

#[tokio::test]
async fn a_change_of_the_watch_list_is_seen_by_the_next_search_for_its_stocks() {
    let research = Research::embedded();
    let browse = || research.call("browse_valuepickr", json!({"category": "watchlist"}));
    let empty = browse().await;
    assert!(empty.provenance.warnings[0].contains("The watch-list is empty"), "{:?}", empty.provenance);
    data(research.call("add_to_watchlist", json!({"symbol": "RELIANCE"})).await);
    let found = data(browse().await);
    assert!(found["topics"][0]["title"].as_str().expect("a title").contains("Reliance"), "{found}");
    assert!(browse().await.provenance.cached_for.is_some(), "the same list is not searched for twice");
    data(research.call("remove_from_watchlist", json!({"symbol": "RELIANCE"})).await);
    assert_eq!(data(browse().await)["topics"], json!([]));
}

#[tokio::test]
async fn what_was_screened_from_invented_data_is_never_shown_as_real() {
    let research = Research::embedded();
    data(research.call("browse_screener", json!({})).await);
    data(research.call("add_to_watchlist", json!({"symbol": "TCS"})).await);
    let server = MockServer::start().await;
    Mock::given(any()).respond_with(ResponseTemplate::new(500)).mount(&server).await;
    let live = research.against_too("screener", &server.uri());
    let error = live.call("browse_screener", json!({})).await.outcome.expect_err("no copy of a real screen");
    assert_eq!(error.code, ErrorCode::Unavailable);
    assert_eq!(data(live.call("browse_watchlist", json!({})).await)["items"], json!([]));
}

#[tokio::test]
async fn a_refusal_stops_the_requests_that_wait_already() {
    let server = MockServer::start().await;
    Mock::given(any()).respond_with(ResponseTemplate::new(403)).mount(&server).await;
    let research = Research::spaced("yahoo", &server.uri());
    let technicals = |symbol| research.call("get_technicals", json!({"symbol": symbol}));
    let (one, two, three) = tokio::join!(technicals("RELIANCE"), technicals("TCS"), technicals("INFY"));
    for result in [one, two, three] {
        assert_eq!(result.outcome.expect_err("refused").code, ErrorCode::Blocked);
    }
    assert_eq!(server.received_requests().await.expect("recorded").len(), 1);
}
