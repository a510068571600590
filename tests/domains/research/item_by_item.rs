//! Answers of which a part cannot be read: it costs the item or the field that it stands in, with a warning, never the
//! page.

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};
use toolwire::{base::clock, contract::ToolResult};
use wiremock::{
    Mock, MockServer, ResponseTemplate,
    matchers::{any, path_regex},
};

use super::support::Research;

/// Half of a surrogate pair, as a title has it that was cut within an emoji.
const HALF: &str = r"\ud83d";

/// What a tool makes of a source that answers with these bytes.
async fn call(source: &str, tool: &str, arguments: Value, body: impl Into<Vec<u8>>) -> ToolResult {
    let server = MockServer::start().await;
    let token = json!({"access_token": "t0ken", "token_type": "bearer", "expires_in": 86400, "scope": "*"});
    let crumb = ResponseTemplate::new(200).set_body_string("abcdefghijk");
    let warm = ResponseTemplate::new(200).set_body_raw("<html><title>Warm</title></html>", "text/html");
    for (path, response) in [
        ("access_token", ResponseTemplate::new(200).set_body_json(token)),
        ("getcrumb", crumb),
        ("^/$", warm),
    ] {
        let response = response.insert_header("set-cookie", "A3=x; path=/");
        Mock::given(path_regex(path)).respond_with(response).with_priority(1).mount(&server).await;
    }
    let response = ResponseTemplate::new(200).set_body_raw(body.into(), "application/json");
    Mock::given(any()).respond_with(response).with_priority(5).mount(&server).await;
    Research::against(source, &server.uri()).call(tool, arguments).await
}

/// The data, and what it warns of beside what it always does.
#[track_caller]
fn read(result: ToolResult, what: &str) -> (Value, Vec<String>) {
    let data = result.outcome.unwrap_or_else(|error| panic!("{what}: {error}"));
    let losses = result.provenance.warnings.into_iter().filter(|words| words.contains("in the answer of"));
    (data.json().clone(), losses.collect())
}

fn topic(id: u64, title: &str) -> Value {
    json!({"id": id, "title": title, "fancy_title": title, "slug": format!("t-{id}"), "posts_count": 5,
        "reply_count": 3, "created_at": "2026-01-10T10:00:00.000Z", "last_posted_at": "2026-01-14T10:00:00.000Z",
        "bumped_at": "2026-01-14T10:00:00.000Z", "pinned": false, "views": 10, "tags": []})
}

fn latest(second: &Value) -> String {
    json!({"users": [], "topic_list": {"topics": [topic(1, "Tata Motors"), second]}}).to_string()
}

/// A topic with something else in one of its fields.
fn topic_with(field: &str, value: Value) -> Value {
    let mut topic = topic(2, "Infosys");
    topic[field] = value;
    topic
}

#[tokio::test]
async fn one_topic_never_costs_the_page() {
    let cut = latest(&topic(2, "Rocket XYZ"));
    let bytes = |with: &[u8]| {
        let at = cut.find("XYZ").unwrap();
        [&cut.as_bytes()[..at], with, &cut.as_bytes()[at + 3..]].concat()
    };
    // What the second topic is called then, if it is there, and how much is lost.
    let table: Vec<(&str, Vec<u8>, Option<&str>, &str)> = vec![
        ("half a surrogate pair", bytes(HALF.as_bytes()), Some("Rocket \u{fffd}"), "1 text"),
        ("a byte that is no UTF-8", bytes(b"caf\xe9"), Some("Rocket caf\u{fffd}"), "1 text"),
        ("a bare tab", bytes(b"tab\there"), Some("Rocket tab here"), ""),
        ("tags as objects", latest(&topic_with("tags", json!([{"id": 3}]))).into(), Some("Infosys"), ""),
        (
            "a count that is a text",
            latest(&topic_with("posts_count", json!("5"))).into(),
            Some("Infosys"),
            "1 value",
        ),
        ("a count of 5.0", latest(&topic_with("posts_count", json!(5.0))).into(), Some("Infosys"), ""),
        (
            "a time that is a number",
            latest(&topic_with("bumped_at", json!(1))).into(),
            Some("Infosys"),
            "1 value",
        ),
        ("a large number", latest(&topic_with("id", json!(1_u64 << 63))).into(), Some("Infosys"), ""),
        ("a title that is null", latest(&topic_with("title", Value::Null)).into(), None, "1 item"),
        ("a title that is a number", latest(&topic_with("title", json!(7))).into(), None, "1 item"),
        ("a number that is a text", latest(&topic_with("id", json!("two"))).into(), None, "1 item"),
        ("a topic that is a text", latest(&json!("Infosys")).into(), None, "1 item"),
        ("a topic that is null", latest(&Value::Null).into(), None, ""),
    ];
    for (what, body, title, lost) in table {
        let (data, losses) = read(call("valuepickr", "browse_valuepickr", json!({}), body).await, what);
        let titles: Vec<_> = data["topics"].as_array().unwrap().iter().map(|topic| &topic["title"]).collect();
        assert_eq!(titles.len(), 1 + usize::from(title.is_some()), "{what}: {data}");
        assert!(title.is_none_or(|title| titles.contains(&&json!(title))), "{what}: {titles:?}");
        assert_eq!(losses.len(), usize::from(!lost.is_empty()), "{what}: {losses:?}");
        assert!(losses.iter().all(|words| words.starts_with(lost)), "{what}: {losses:?}");
    }
}

#[tokio::test]
async fn a_topic_without_a_slug_and_the_time_of_its_beginning_is_listed_all_the_same() {
    let mut bare = topic(2, "Infosys");
    for field in ["slug", "created_at"] {
        bare.as_object_mut().unwrap().remove(field).expect("it was there");
    }
    let body = latest(&bare);
    let (data, losses) = read(call("valuepickr", "browse_valuepickr", json!({}), body).await, "bare");
    let found = data["topics"].as_array().unwrap().iter().find(|topic| topic["title"] == "Infosys");
    assert_eq!(found.map(|topic| &topic["slug"]), Some(&json!("")), "{data}");
    assert_eq!(losses, [""; 0]);
}

#[tokio::test]
async fn a_list_that_is_null_is_empty_and_keys_that_come_twice_count_once() {
    let twice = format!(r#"{{"topic_list": {{"topics": []}}, {}"#, &latest(&topic(2, "Infosys"))[1..]);
    for (body, count) in [(r#"{"topic_list": {"topics": null}}"#.to_owned(), 0), (twice, 2)] {
        let (data, losses) =
            read(call("valuepickr", "browse_valuepickr", json!({}), body.clone()).await, &body);
        assert_eq!(data["topics"].as_array().map(Vec::len), Some(count), "{body}");
        assert_eq!(losses, [""; 0], "{body}");
    }
}

fn listing(second: &str) -> String {
    let post = |id: u32, more: &str| {
        format!(
            r#"{{"kind": "t3", "data": {{"id": "a{id}", "title": "Post {id}", "selftext": "", "author": "x",
            "score": 5, "num_comments": 2, "created_utc": 1768400000.0, "permalink": "/r/x/{id}", "stickied": false,
            "over_18": false, "removed_by_category": null{more}}}}}"#
        )
    };
    let children = [post(1, ""), post(2, second)].join(",");
    format!(r#"{{"kind": "Listing", "data": {{"after": null, "children": [{children}]}}}}"#)
}

#[tokio::test]
async fn one_post_never_costs_the_listing() {
    for (second, is_there, lost) in [
        (r#", "title": "cut \ud83d""#, true, "1 text"),
        (r#", "score": NaN"#, true, "1 value"),
        (r#", "score": "many", "upvote_ratio": {}"#, true, "2 values"),
        (r#", "selftext": 5, "author": null"#, true, "1 value"),
        (r#", "created_utc": "yesterday""#, false, "1 item"),
        (r#", "title": null"#, false, "1 item"),
        // In doubt a post is not shown.
        (r#", "over_18": "yes""#, false, ""),
        (r#", "stickied": 1"#, false, ""),
    ] {
        let (data, losses) = read(call("reddit", "browse_reddit", json!({}), listing(second)).await, second);
        let ids: Vec<_> = data["posts"].as_array().unwrap().iter().map(|post| &post["id"]).collect();
        assert_eq!(ids, if is_there { vec!["a1", "a2"] } else { vec!["a1"] }, "{second}");
        assert_eq!(losses.len(), usize::from(!lost.is_empty()), "{second}: {losses:?}");
        assert!(losses.iter().all(|words| words.starts_with(lost)), "{second}: {losses:?}");
    }
}

#[tokio::test]
async fn one_deal_never_costs_the_others() {
    let day = DateTime::<Utc>::from(clock::wall()) - TimeDelta::days(3);
    let day = day.format("%d-%b-%Y");
    let row = |quantity: &str, more: &str| {
        format!(
            r#"{{"BD_DT_DATE": "{day}", "BD_SYMBOL": "RELIANCE", "BD_CLIENT_NAME": "FUND", "BD_BUY_SELL": "BUY",
            "BD_QTY_TRD": {quantity}, "BD_TP_WATP": 1400.5{more}}}"#
        )
    };
    for (second, count, lost) in [
        (row("50", r#", "BD_CLIENT_NAME": "cut \ud83d""#), 2, "2 texts"),
        (row("50", r#", "BD_CLIENT_NAME": 7"#), 2, "2 values"),
        (row("1e999", ""), 1, "2 items and 2 values"),
        (row(r#""many""#, ""), 1, "2 items"),
        (row("50", r#", "BD_BUY_SELL": "HOLD""#), 1, "2 items"),
        (row("50", r#", "BD_DT_DATE": "yesterday""#), 1, "2 items"),
        ("[]".to_owned(), 1, "2 items"),
    ] {
        let body = format!(r#"{{"data": [{}, {second}]}}"#, row("10", ""));
        let arguments = json!({"symbol": "RELIANCE", "days": 30});
        let (data, losses) = read(call("nse", "get_insider_trading", arguments, body).await, &second);
        // Bulk and block deals are two answers.
        assert_eq!(data["deals"].as_array().map(Vec::len), Some(2 * count), "{second}");
        assert!(losses.len() == 1 && losses[0].starts_with(lost), "{second}: {losses:?}");
    }
}

fn summary(pe: &str) -> String {
    format!(
        r#"{{"quoteSummary": {{"result": [{{
            "assetProfile": {{"sector": "Tech"}},
            "summaryDetail": {{"trailingPE": {pe}, "marketCap": 1000000000000, "currency": "INR"}},
            "financialData": {{"returnOnEquity": 0.2, "financialCurrency": "INR"}},
            "defaultKeyStatistics": {{"forwardPE": 10}},
            "earnings": {{"earningsChart": {{"quarterly": [{{"date": "soon"}}, {{"date": "3Q2025", "actual": 1}}]}}}}
        }}], "error": null}}}}"#
    )
}

#[tokio::test]
async fn one_number_of_a_company_never_costs_the_others() {
    for (pe, is_read_as, values) in [
        ("12.5", Some(12.5), 0),
        (r#""12.5""#, Some(12.5), 0),
        (r#"{"raw": 12.5, "fmt": "12.50"}"#, Some(12.5), 0),
        (r#""Infinity""#, None, 0),
        (r#""NaN""#, None, 0),
        ("{}", None, 0),
        ("Infinity", None, 1),
        ("-Infinity", None, 1),
        ("NaN", None, 1),
        ("1e999", None, 1),
        ("true", None, 1),
        ("[12.5]", None, 1),
        (r#""many""#, None, 1),
    ] {
        let asked = json!({"symbol": "RELIANCE"});
        let (data, losses) = read(call("yahoo", "get_fundamentals", asked, summary(pe)).await, pe);
        assert_eq!((data["pe"].as_f64(), data["sector"].as_str()), (is_read_as, Some("Tech")), "{pe}");
        assert_eq!(
            (data["roe_pct"].as_f64(), data["market_cap_cr"].as_f64()),
            (Some(20.0), Some(1e5)),
            "{pe}"
        );
        let lost = match values {
            0 => "1 item in the answer",
            _ => "1 item and 1 value in the answer",
        };
        assert!(losses.len() == 1 && losses[0].starts_with(lost), "{pe}: {losses:?}");
    }
    let cut = summary("1").replace("Tech", &format!("Tech {HALF}"));
    let (data, losses) =
        read(call("yahoo", "get_fundamentals", json!({"symbol": "RELIANCE"}), cut).await, "cut");
    assert_eq!((data["sector"].as_str(), losses.len()), (Some("Tech \u{fffd}"), 2), "{losses:?}");
}

#[tokio::test]
async fn a_module_or_a_result_of_another_type_is_told_from_one_that_is_missing() {
    let asked = json!({"symbol": "RELIANCE"});
    let without =
        summary("12.5").replace(r#"{"sector": "Tech"}"#, "[]").replace(r#""earnings": {"#, r#""other": {"#);
    let (data, losses) = read(call("yahoo", "get_fundamentals", asked.clone(), without).await, "a list");
    assert_eq!(data["pe"], 12.5);
    assert_eq!(losses.len(), 0, "an empty list holds nothing: {losses:?}");
    for other in [
        r#"{"quoteSummary": {"result": ["RELIANCE"], "error": null}}"#,
        r#"{"quoteSummary": {"result": 5}}"#,
        r#"{"quoteSummary": {"result": null, "error": "Not Found"}}"#,
        r#"{"quoteSummary": []}"#,
        "NaN",
    ] {
        let error = call("yahoo", "get_fundamentals", asked.clone(), other).await.outcome.unwrap_err();
        assert_eq!(error.code.into_str(), "PARSE_ERROR", "{other}: {error}");
    }
}
