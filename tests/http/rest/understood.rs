//! Bodies, paths and queries in codings, charsets and spellings that are understood, and those that are refused by
//! name.

use serde_json::json;

use super::{JSON, KEY, get, post, server, value};
use crate::http::raw::{Raw, ask};

const QUOTES: &str = "/v1/tools/get_quotes:call";
const AAPL: &str = r#"{"symbol": "AAPL"}"#;

#[tokio::test]
async fn a_coding_that_is_not_undone_is_refused_wherever_there_is_a_body() {
    let server = server();
    let address = server.http.unwrap();
    for (method, path) in [
        ("POST", QUOTES),
        ("POST", "/v1/tasks"),
        ("POST", "/agent/chat"),
        ("POST", "/copilotkit/stream"),
        ("PUT", "/v1/workspaces/t/documents/a"),
        ("PATCH", "/v1/workspaces/t/documents/a"),
    ] {
        for coding in ["gzip", "br", "identity, deflate"] {
            let headers = [JSON, &format!("content-encoding: {coding}"), "connection: close"];
            let answer = ask(address, method, path, &headers, AAPL).await;
            assert_eq!((answer.status, answer.code().as_str()), (415, "UNSUPPORTED_MEDIA_TYPE"), "{path}");
            let named = coding.rsplit(' ').next().unwrap();
            assert!(answer.body.contains(&format!("the content coding {named} ")), "{answer:?}");
            assert_eq!(answer.headers["accept-encoding"], "identity");
        }
    }
    assert_eq!(post(&server, QUOTES, &["content-encoding: identity"], AAPL).await.status, 200);
    let empty = post(&server, "/v1/tools/get_account_summary:call", &["content-encoding: gzip"], "").await;
    assert_eq!(empty.status, 200, "nothing is coded in any way");
}

#[tokio::test]
async fn a_charset_other_than_utf_8_is_refused_by_its_name() {
    let server = server();
    let address = server.http.unwrap();
    for charset in ["utf-8", "UTF-8", "\"utf-8\"", "us-ascii"] {
        let kind = format!("content-type: application/json; charset={charset}");
        assert_eq!(ask(address, "POST", QUOTES, &[&kind], AAPL).await.status, 200, "{charset}");
    }
    for charset in ["latin1", "utf-16", "utf-7", "nonsense"] {
        for (method, path, kind) in
            [("POST", QUOTES, "application/json"), ("PUT", "/v1/workspaces/t/documents/a", "text/plain")]
        {
            let kind = format!("content-type: {kind}; charset={charset}");
            let answer = ask(address, method, path, &[&kind, "connection: close"], AAPL).await;
            assert_eq!((answer.status, answer.code().as_str()), (415, "UNSUPPORTED_MEDIA_TYPE"), "{kind}");
            assert!(answer.body.contains(charset), "{answer:?}");
        }
    }
}

#[tokio::test]
async fn percent_encoding_that_is_malformed_is_refused_by_the_part_that_has_it() {
    let server = server();
    for (path, part) in [
        ("/v1/tools/get%zz", "path"),
        ("/v1/tools/get%", "path"),
        ("/v1/tools/%ff", "path"),
        ("/v1/tools/%+1", "path"),
        ("/v1/tools/%C3%", "path"),
        ("/v1/workspaces/t/documents/a%f", "path"),
        ("/api/quotes?symbol=%zz", "query"),
        ("/api/quotes?symbol=%ff", "query"),
        ("/v1/tools?text=%C3", "query"),
        ("/v1/tools?%zz=a", "query"),
        ("/nowhere?a=%", "query"),
    ] {
        let answer = get(&server, path, &[]).await;
        assert_eq!((answer.status, answer.code().as_str()), (400, "INVALID_REQUEST"), "{path}");
        assert_eq!(value(&answer)["field_violations"][0]["pointer"], part, "{path}");
    }
    assert_eq!(get(&server, "/api/quotes?symbol=%41APL", &[]).await.status, 200);
}

#[tokio::test]
async fn every_verb_may_be_written_with_an_encoded_colon() {
    let server = server();
    let begun = post(&server, "/v1/tasks", &[KEY], r#"{"request": "x", "role": "analyst"}"#).await;
    let begun = value(&begun);
    let task = begun["task"]["task_id"].as_str().unwrap();
    let lease = json!({"any_of": {"roles": ["nobody"]}, "holder": "h"}).to_string();
    for (path, body) in [
        ("/v1/tasks:lease".to_owned(), lease.as_str()),
        (QUOTES.to_owned(), AAPL),
        ("/v1/tools/get_quotes:invoke".to_owned(), AAPL),
        ("/v1/intents/no_such_intent:call".to_owned(), "{}"),
        ("/v1/calls/01a20126-d81f-7c3d-8e5f-0123456789ab:cancel".to_owned(), "{}"),
        ("/v1/confirmations/x:decide".to_owned(), "{}"),
        ("/v1/jobs/x:cancel".to_owned(), "{}"),
        (format!("/v1/tasks/{task}:append"), "{}"),
        (format!("/v1/tasks/{task}:burn"), "{}"),
        (format!("/v1/workspaces/{task}/documents:search?query=x"), ""),
    ] {
        let method = if body.is_empty() { "GET" } else { "POST" };
        let address = server.http.unwrap();
        let plain = ask(address, method, &path, &[JSON, "connection: close"], body).await;
        for encoded in ["%3A", "%3a"] {
            let path = path.replace(':', encoded);
            let answer = ask(address, method, &path, &[JSON, "connection: close"], body).await;
            assert_eq!(answer.status, plain.status, "{path}");
        }
    }
    for watch in ["/v1/tools%3Awatch", "/v1/tasks%3awatch", "/v1/confirmations%3Awatch"] {
        let mut raw = Raw::connect(server.http.unwrap()).await;
        raw.ask("GET", watch, &[], "").await;
        assert_eq!(raw.head().await.headers["content-type"], "text/event-stream", "{watch}");
    }
}

#[tokio::test]
async fn a_byte_order_mark_before_a_body_is_skipped() {
    let server = server();
    for (path, body, status) in [
        (QUOTES, AAPL, 200),
        ("/v1/tools/get_account_summary:call", "", 200),
        ("/v1/tasks", r#"{"request": "x", "role": "analyst"}"#, 200),
        ("/agent/chat", r#"{"message": "What is Apple trading at?"}"#, 200),
        ("/api/chat", r#"{"message": "What is Apple trading at?"}"#, 200),
    ] {
        let answer = post(&server, path, &[KEY], &format!("\u{feff}{body}")).await;
        assert_eq!(answer.status, status, "{path} {answer:?}");
    }
    let run = json!({
        "threadId": "t", "runId": "r", "state": {}, "tools": [], "context": [], "forwardedProps": {},
        "messages": [{"id": "m", "role": "user", "content": "What is Apple trading at?"}],
    });
    let answer = post(&server, "/copilotkit/stream", &[], &format!("\u{feff}{run}")).await;
    assert!(answer.body.contains("RUN_FINISHED"), "{answer:?}");
}
