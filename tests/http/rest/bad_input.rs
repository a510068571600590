//! Every row of bad input that is this face's.

use super::{JSON, KEY, get, post, server, value};
use crate::http::raw::ask;

const WRITE: &str = "/v1/tools/debug_write:call";

#[tokio::test]
async fn what_is_malformed_is_refused_by_name() {
    let server = server();
    let deep = format!("{}1{}", "{\"a\":".repeat(40), "}".repeat(40));
    let bad_tag = format!("if-match: {}", "0".repeat(64));
    for (path, headers, body, status, code) in [
        (WRITE, vec![], r#"{"value": "x"}"#, 400, "INVALID_REQUEST"),
        (WRITE, vec!["idempotency-key: no-uuid"], r#"{"value": "x"}"#, 400, "INVALID_REQUEST"),
        (WRITE, vec![KEY, KEY], r#"{"value": "x"}"#, 400, "INVALID_REQUEST"),
        (WRITE, vec![KEY, &bad_tag], r#"{"value": "x"}"#, 400, "INVALID_REQUEST"),
        (WRITE, vec![KEY, "x-toolwire-timeout: soon"], r#"{"value": "x"}"#, 400, "INVALID_TIMEOUT"),
        (
            WRITE,
            vec![KEY, "x-toolwire-wait-for-confirmation: x"],
            r#"{"value": "x"}"#,
            400,
            "INVALID_REQUEST",
        ),
        (WRITE, vec![KEY], "[1]", 422, "INVALID_ARGUMENT"),
        (WRITE, vec![KEY], "{", 422, "INVALID_ARGUMENT"),
        (WRITE, vec![KEY], r#"{"value": "x", "value": "y"}"#, 422, "INVALID_ARGUMENT"),
        (WRITE, vec![KEY], &deep, 422, "INVALID_ARGUMENT"),
        (WRITE, vec![KEY], "{}", 422, "INVALID_ARGUMENT"),
        (WRITE, vec![KEY], r#"{"value": "x", "other": 1}"#, 422, "INVALID_ARGUMENT"),
        ("/v1/tools/debug_write:call?format=xml", vec![KEY], "{}", 400, "INVALID_REQUEST"),
        ("/v1/tools/debug_write:call?other=1", vec![KEY], "{}", 400, "INVALID_REQUEST"),
        ("/v1/tools/debug_write:burn", vec![KEY], "{}", 404, "UNKNOWN_ROUTE"),
        ("/v1/tools/debug_write", vec![KEY], "{}", 404, "UNKNOWN_ROUTE"),
        ("/v1/tools/:call", vec![], "{}", 400, "INVALID_REQUEST"),
        ("/v1/tools/no_such_tool:call", vec![], "{}", 404, "UNKNOWN_TOOL"),
        ("/v1/tools/no_such_tool:invoke", vec![], "{}", 404, "UNKNOWN_TOOL"),
        ("/v1/tools/%ff:call", vec![], "{}", 400, "INVALID_REQUEST"),
        ("/v1/nothing", vec![], "{}", 404, "UNKNOWN_ROUTE"),
        ("/v1/tasks/task_1:burn", vec![], "{}", 404, "UNKNOWN_ROUTE"),
        ("/v1/tasks", vec![KEY], r#"{"no_such_field": 1}"#, 400, "INVALID_REQUEST"),
        ("/v1/confirmations/x:decide", vec![], r#"{"confirmation_id": "y"}"#, 400, "INVALID_REQUEST"),
    ] {
        let answer = post(&server, path, &headers, body).await;
        assert_eq!((answer.status, answer.code().as_str()), (status, code), "{path} {headers:?} {body:.60}");
    }
}

#[tokio::test]
async fn a_missing_key_is_asked_for_by_the_name_of_its_header() {
    let server = server();
    let problem = value(&post(&server, WRITE, &[], r#"{"value": "x"}"#).await);
    assert_eq!(problem["field_violations"][0]["pointer"], "Idempotency-Key", "{problem}");
    let problem = value(&post(&server, WRITE, &[KEY], "{}").await);
    assert!(problem["field_violations"][0]["rule"].is_string(), "{problem}");
}

#[tokio::test]
async fn queries_methods_and_bodies_that_no_route_takes() {
    let server = server();
    for path in [
        "/v1/tools?limit=0",
        "/v1/tools?limit=1001",
        "/v1/tools?nothing=1",
        "/v1/tools?category=PLAY",
        "/v1/tools/get_quotes?view=FULL",
        "/v1/calls?states=PLAYING",
        "/v1/calls?since=yesterday",
        "/v1/calls?page_size=many",
        "/v1/exports/mcp?strict=perhaps",
        "/v1/calls/no-uuid",
    ] {
        let answer = get(&server, path, &[]).await;
        assert_eq!((answer.status, answer.code().as_str()), (400, "INVALID_REQUEST"), "{path}");
    }
    let address = server.http.unwrap();
    let answer = ask(address, "DELETE", "/v1/tools/get_quotes", &[], "").await;
    assert_eq!((answer.status, answer.code().as_str()), (405, "METHOD_NOT_ALLOWED"));
    assert_eq!(answer.headers["allow"], "GET, HEAD");
    let answer = ask(address, "POST", WRITE, &["content-type: text/plain", KEY], "{}").await;
    assert_eq!((answer.status, answer.code().as_str()), (415, "UNSUPPORTED_MEDIA_TYPE"));
    let large = format!(r#"{{"value": "{}"}}"#, "x".repeat(2 << 20));
    let answer = ask(address, "POST", WRITE, &[JSON, KEY, "connection: close"], &large).await;
    assert_eq!((answer.status, answer.code().as_str()), (413, "MESSAGE_TOO_LARGE"));
}
