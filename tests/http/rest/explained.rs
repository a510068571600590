//! What a call would come to, and that it is not made.

use serde_json::{Value, json};
use toolwire::config::{AuthUser, Config, ToolPattern};

use super::value;
use crate::http::{house::House, raw::ask};

const RILEY: &str = "authorization: Bearer riley-0123456789abcdef";

/// A server whose user may call `get_*`, and the diagnostics tools but `debug_fail`.
fn house() -> House {
    House::with(|config: &mut Config| {
        let pattern = |text: &str| ToolPattern::try_from(text.to_owned()).unwrap();
        let tools =
            ["get_*", "debug_write", "debug_confirm", "ask_master"].map(pattern).into_iter().collect();
        let riley = AuthUser::new("riley".parse().unwrap(), "riley-0123456789abcdef".into());
        config.auth.users = vec![AuthUser { tools, ..riley }];
        config.server.diagnostics = true;
    })
}

async fn explain(house: &House, path: &str, more: &[&str], body: &str) -> Value {
    let headers: Vec<_> =
        [RILEY, "content-type: application/json"].into_iter().chain(more.iter().copied()).collect();
    let answer = ask(house.server.http.unwrap(), "POST", path, &headers, body).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    value(&answer)
}

async fn calls(house: &House) -> Value {
    value(&ask(house.server.http.unwrap(), "GET", "/v1/calls", &[RILEY], "").await)["calls"].clone()
}

#[tokio::test]
async fn each_check_is_explained_and_nothing_is_executed_or_recorded() {
    let house = house();
    let plain = explain(&house, "/v1/tools/get_quotes:explain", &[], r#"{"symbol": "AMD"}"#).await;
    assert_eq!((&plain["prospect"], &plain["tool"]), (&json!("EXECUTED"), &json!("get_quotes")), "{plain}");
    assert_eq!(plain["arguments"]["symbol"], "AMD");
    assert!(plain.get("confirmation").is_none() && plain["request_id_required"] == false, "{plain}");

    let asked = [("x-toolwire-require-confirmation: true", "/v1/tools/get_quotes:explain", "CALLER")];
    let demanded = [("x-toolwire-session-id: s", "/v1/tools/debug_confirm:explain", "MANIFEST")];
    for (header, path, cause) in asked.into_iter().chain(demanded) {
        let body = if cause == "CALLER" { r#"{"symbol": "AMD"}"# } else { r#"{"value": "x"}"# };
        let explained = explain(&house, path, &[header], body).await;
        assert_eq!(explained["prospect"], "CONFIRMATION_REQUIRED", "{explained}");
        assert_eq!(explained["confirmation"]["cause"], cause, "{explained}");
        // A user without the right to approve could not decide.
        let may_decide = &explained["confirmation"]["may_decide"];
        assert_eq!(may_decide["allowed"], false, "{explained}");
        assert!(may_decide["reason"].as_str().unwrap().contains("no right to approve"), "{explained}");
    }
    let write = explain(&house, "/v1/tools/debug_write:explain", &[], r#"{"value": "x"}"#).await;
    assert_eq!((&write["prospect"], &write["request_id_required"]), (&json!("EXECUTED"), &json!(true)));

    assert_eq!(calls(&house).await, json!([]));
    let confirmations =
        value(&ask(house.server.http.unwrap(), "GET", "/v1/confirmations", &[RILEY], "").await);
    assert_eq!(confirmations["confirmations"], json!([]));
}

#[tokio::test]
async fn what_would_fail_is_explained_as_the_call_would_say_it() {
    let house = house();
    let invalid = explain(&house, "/v1/tools/get_performance:explain", &[], r#"{"timefram": "YTD"}"#).await;
    assert_eq!(invalid["prospect"], "INVALID", "{invalid}");
    let rules: Vec<_> =
        invalid["field_violations"].as_array().unwrap().iter().map(|it| &it["rule"]).collect();
    assert_eq!(rules, ["additionalProperties", "required"], "{invalid}");
    let unreadable = explain(&house, "/v1/tools/get_quotes:explain", &[], "[1]").await;
    assert_eq!(unreadable["prospect"], "INVALID", "{unreadable}");
    for (path, status, reason) in [
        ("/v1/tools/debug_fail:explain", "PERMISSION_DENIED", "TOOL_NOT_ALLOWED"),
        ("/v1/tools/no_such_tool:explain", "PERMISSION_DENIED", "TOOL_NOT_ALLOWED"),
        ("/v1/tools/get_nothing_like_it:explain", "NOT_FOUND", "UNKNOWN_TOOL"),
        ("/v1/intents/no_such_intent:explain", "NOT_FOUND", "UNKNOWN_INTENT"),
        ("/v1/tools/ask_master:explain", "INVALID_ARGUMENT", "INVALID_REQUEST"),
    ] {
        let body = if path.contains("ask_master") { r#"{"question": "x"}"# } else { "{}" };
        let explained = explain(&house, path, &[], body).await;
        assert_eq!(explained["prospect"], "REFUSED", "{path}: {explained}");
        let refusal = &explained["refusal"];
        assert_eq!((&refusal["status"], &refusal["reason"]), (&json!(status), &json!(reason)), "{path}");
    }
    let digest = "if-match: \"0000000000000000000000000000000000000000000000000000000000000000\"";
    let headers = [RILEY, "content-type: application/json", digest];
    let path = "/v1/tools/get_quotes:explain";
    let answer = ask(house.server.http.unwrap(), "POST", path, &headers, r#"{"symbol": "AMD"}"#).await;
    assert_eq!((answer.status, answer.code().as_str()), (412, "DEFINITION_CHANGED"), "{answer:?}");
}

#[tokio::test]
async fn a_cache_that_would_answer_is_named() {
    let house = house();
    house.patch("get_quotes", &json!({"cache": {"ttl_s": 60, "tier": "session", "scope": "user"}}));
    let (path, body) = ("/v1/tools/get_quotes:explain", r#"{"symbol": "AMD"}"#);
    let session = "x-toolwire-session-id: explained";
    let before = explain(&house, path, &[session], body).await;
    assert_eq!(
        (&before["prospect"], &before["cache"]["hit"]),
        (&json!("EXECUTED"), &json!(false)),
        "{before}"
    );
    let headers = [RILEY, "content-type: application/json", session];
    let called = ask(house.server.http.unwrap(), "POST", "/v1/tools/get_quotes:call", &headers, body).await;
    assert_eq!(called.status, 200, "{called:?}");
    let after = explain(&house, path, &[session], body).await;
    assert_eq!((&after["prospect"], &after["cache"]["hit"]), (&json!("CACHED"), &json!(true)), "{after}");
    // Another session has a cache of its own.
    let other = explain(&house, path, &["x-toolwire-session-id: other"], body).await;
    assert_eq!(other["cache"]["hit"], false, "{other}");
}

#[tokio::test]
async fn a_call_of_a_task_is_not_explained() {
    let house = house();
    let task = format!("x-toolwire-task-id: task_{}", "0".repeat(32));
    let headers = [RILEY, "content-type: application/json", &task];
    let path = "/v1/tools/get_quotes:explain";
    let answer = ask(house.server.http.unwrap(), "POST", path, &headers, r#"{"symbol": "AMD"}"#).await;
    assert_eq!((answer.status, answer.code().as_str()), (400, "INVALID_REQUEST"), "{answer:?}");
}
