//! Calls and watches by events, and documents as bytes.

use serde_json::Value;

use super::{JSON, KEY, get, post, server, value};
use crate::http::raw::{Raw, ask};

#[tokio::test]
async fn a_call_tells_its_events_in_order() {
    let server = server();
    let answer = post(&server, "/v1/tools/debug_stream:invoke", &[], r#"{"count": 2, "bytes": 10}"#).await;
    assert_eq!((answer.status, answer.headers["content-type"].as_str()), (200, "text/event-stream"));
    assert!(answer.body.starts_with(": open\n\n"), "{}", answer.body);
    let of = |start: &str| -> Vec<String> {
        answer.body.lines().filter_map(|line| line.strip_prefix(start)).map(str::to_owned).collect()
    };
    let events = of("event: ");
    assert_eq!((events.first().unwrap().as_str(), events.last().unwrap().as_str()), ("accepted", "result"));
    assert_eq!(events.iter().filter(|it| *it == "chunk").count(), 2, "{events:?}");
    let ids: Vec<_> = (0..events.len()).map(|id| id.to_string()).collect();
    assert_eq!(of("id: "), ids);
    let last: Value = serde_json::from_str(of("data: ").last().unwrap()).unwrap();
    assert_eq!(last["call_id"], answer.headers["x-toolwire-call-id"]);
    assert!(last["result"]["data"].is_object(), "{last}");
}

#[tokio::test]
async fn what_fails_amid_events_is_their_last() {
    let server = server();
    let answer = post(&server, "/v1/tools/debug_fail:invoke", &[], r#"{"code": "BLOCKED"}"#).await;
    assert!(answer.status == 200 && answer.body.contains(r#""code":"BLOCKED""#), "{answer:?}");
    let answer = post(&server, "/v1/tools/debug_write:invoke", &[], r#"{"value": "x"}"#).await;
    assert_eq!((answer.status, answer.code().as_str()), (400, "INVALID_REQUEST"));
}

#[tokio::test]
async fn a_watch_tells_the_present_state_first() {
    let server = server();
    let mut raw = Raw::connect(server.http.unwrap()).await;
    raw.ask("GET", "/v1/tools:watch", &[], "").await;
    assert_eq!(raw.head().await.status, 200);
    let told = raw.until("event: synced\n").await;
    assert!(told.contains("event: added\n") && told.contains("get_quotes"));
}

#[tokio::test]
async fn a_document_goes_in_and_comes_out_as_it_is() {
    let server = server();
    let task = value(&post(&server, "/v1/tasks", &[KEY], r#"{"request": "look", "role": "analyst"}"#).await);
    let id = task["task"]["task_id"].as_str().unwrap_or_else(|| panic!("{task}"));
    let path = format!("/v1/workspaces/{id}/documents/notes/a.html");
    let text = "<b>e</b>".repeat(100_000);
    let address = server.http.unwrap();
    let put = ask(address, "PUT", &path, &["content-type: text/html", KEY], &text).await;
    assert_eq!(put.status, 200, "{put:?}");
    let document = ask(address, "GET", &path, &[], "").await;
    assert_eq!(document.body, text);
    assert_eq!(document.headers["content-disposition"], "attachment");
    assert!(document.headers["content-security-policy"].contains("sandbox"));
    assert_eq!(document.headers["x-content-type-options"], "nosniff");
    for range in ["bytes=0-1", "bytes=-2", "bytes=9999999-", "bytes=1-0,2-", "lines=1"] {
        let whole = ask(address, "GET", &path, &[&format!("range: {range}")], "").await;
        assert_eq!((whole.status, whole.body.len()), (200, text.len()), "there are no ranges: {range}");
    }
    let known = format!("if-none-match: {}", document.headers["etag"]);
    assert_eq!(ask(address, "GET", &path, &[&known], "").await.status, 304);
    let about = value(&get(&server, &format!("{path}?metadata_only=true"), &[]).await);
    assert_eq!(about["size_bytes"], text.len(), "{about}");
    let stale = ask(address, "DELETE", &path, &[JSON, "if-match: \"stale\""], "").await;
    assert_eq!((stale.status, stale.code().as_str()), (412, "ETAG_STALE"));
    let listed =
        value(&get(&server, &format!("/v1/workspaces/{id}/documents?path_prefix=notes/"), &[]).await);
    assert_eq!(listed["documents"].as_array().unwrap().len(), 1, "{listed}");
}
