//! Calls by JSON: what they answer, and what their headers say.

use serde_json::json;

use super::{KEY, get, post, server, value};

const QUOTES: &str = "/v1/tools/get_quotes:call";
const TRACE: &str = "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

#[tokio::test]
async fn a_call_answers_its_data_and_where_it_came_from() {
    let server = server();
    let answer = post(&server, QUOTES, &[TRACE], r#"{"symbol": "AAPL"}"#).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let body = value(&answer);
    assert_eq!(body["call_id"], answer.headers["x-toolwire-call-id"]);
    assert_eq!(answer.headers["x-toolwire-trace-id"], "0af7651916cd43dd8448eb211c80319c");
    let refused = get(&server, "/v1/tools/no_such_tool", &[TRACE]).await;
    assert_eq!(
        (refused.status, &refused.headers["x-toolwire-trace-id"]),
        (404, &answer.headers["x-toolwire-trace-id"])
    );
    assert_eq!(body["tool"], "get_quotes");
    assert!(body["data"].is_object() && body["fetched_at"].is_string(), "{body}");
    assert_eq!(body["provenance"]["from_cache"], false);
    let again = value(&post(&server, QUOTES, &[], r#"{"symbol": "AAPL"}"#).await);
    assert_eq!(again["data"], body["data"]);
    let known = value(&get(&server, &format!("/v1/calls/{}", body["call_id"].as_str().unwrap()), &[]).await);
    assert_eq!(known["call"]["tool"], "get_quotes", "{known}");
}

#[tokio::test]
async fn a_model_reads_text() {
    let server = server();
    let body = r#"{"symbol": "AAPL"}"#;
    let answer = post(&server, &format!("{QUOTES}?format=model&max_tokens=300"), &[], body).await;
    let body = value(&answer);
    assert!(
        body["data_text"].as_str().is_some_and(|text| text.contains("AAPL")) && body.get("data").is_none(),
        "{body}"
    );
    let answer =
        post(&server, "/v1/tools/debug_fail:call?format=model", &[], r#"{"code": "NOT_FOUND"}"#).await;
    assert_eq!(answer.status, 404);
    assert!(value(&answer)["data_text"].as_str().unwrap().contains("NOT_FOUND"), "{answer:?}");
}

#[tokio::test]
async fn an_intent_is_called_as_a_tool_is() {
    let server = server();
    let answer = post(&server, "/v1/intents/no_such_intent:call", &[], "{}").await;
    assert_eq!((answer.status, answer.code().as_str()), (404, "UNKNOWN_INTENT"));
    let listed = value(&get(&server, "/v1/tools", &[]).await);
    let tools = listed["tools"].as_array().unwrap();
    let (tool, intent) = tools
        .iter()
        .find_map(|it| Some((&it["name"], it["intents"].get(0)?.as_str()?)))
        .expect("a tool with an intent");
    let answer = post(&server, &format!("/v1/intents/{intent}:call"), &[], "{}").await;
    assert!(matches!(answer.status, 200 | 422), "{tool} {answer:?}");
}

#[tokio::test]
async fn every_error_of_a_tool_has_its_status() {
    let server = server();
    for (code, status) in [
        ("UNKNOWN", 500),
        ("RATE_LIMITED", 429),
        ("NOT_FOUND", 404),
        ("TIMEOUT", 504),
        ("AUTH_FAILED", 502),
        ("BLOCKED", 502),
        ("PARSE_ERROR", 502),
        ("INVALID_ARGUMENT", 422),
        ("PERMISSION_DENIED", 403),
        ("CANCELLED", 499),
        ("UNAVAILABLE", 503),
        ("CONFLICT", 409),
        ("RESULT_TOO_LARGE", 422),
        ("CONFIRMATION_DENIED", 403),
        ("CONFIRMATION_EXPIRED", 410),
        ("OUTCOME_UNKNOWN", 500),
    ] {
        let body = json!({"code": code, "retry_after": "1.2s"}).to_string();
        let answer = post(&server, "/v1/tools/debug_fail:call", &[], &body).await;
        assert_eq!((answer.status, answer.code().as_str()), (status, code));
        let problem = value(&answer);
        assert_eq!(problem["type"], format!("/errors/{code}"));
        assert_eq!(problem["instance"], format!("/v1/calls/{}", answer.headers["x-toolwire-call-id"]));
        assert!(
            problem["retryable"].is_boolean()
                && problem["origin"].is_string()
                && problem["attempts"].is_u64()
        );
    }
    let answer =
        post(&server, "/v1/tools/debug_fail:call", &[], r#"{"code": "RATE_LIMITED", "retry_after": "1.2s"}"#)
            .await;
    assert_eq!(answer.headers["retry-after"], "2", "{answer:?}");
}

#[tokio::test]
async fn a_write_is_made_once_for_one_key() {
    let server = server();
    let quoted = KEY.replace(": ", ": \"") + "\"";
    let first = post(&server, "/v1/tools/debug_write:call", &[KEY], r#"{"value": "x"}"#).await;
    assert_eq!(first.status, 200, "{first:?}");
    let second = post(&server, "/v1/tools/debug_write:call", &[&quoted], r#"{"value": "x"}"#).await;
    assert_eq!(value(&second)["data"], value(&first)["data"]);
    let other = post(&server, "/v1/tools/debug_write:call", &[KEY], r#"{"value": "y"}"#).await;
    assert_eq!((other.status, other.code().as_str()), (422, "REQUEST_ID_REUSED"));
}

#[tokio::test]
async fn a_call_is_bound_to_the_definition_that_it_names() {
    let server = server();
    let seen = get(&server, "/v1/tools/get_quotes", &[]).await;
    let bound = format!("if-match: {}", seen.headers["etag"]);
    assert_eq!(post(&server, QUOTES, &[&bound], r#"{"symbol": "AAPL"}"#).await.status, 200);
    let stale = format!("if-match: \"{}\"", "0".repeat(64));
    let answer = post(&server, QUOTES, &[&stale], r#"{"symbol": "AAPL"}"#).await;
    assert_eq!((answer.status, answer.code().as_str()), (412, "DEFINITION_CHANGED"));
}
