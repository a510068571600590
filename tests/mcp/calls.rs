//! `tools/call`: data, failures, progress and repeats.

use serde_json::{Value, json};
use toolwire::tool::context::RequestId;

use super::client::{ERAS, Era, Message, call, house, messages, text};

#[tokio::test]
async fn data_are_structured_and_the_same_text() {
    let house = house();
    let talk = house.talk("riley");
    for era in ERAS {
        let result = call(&talk, era, "get_quotes", json!({"symbol": "AMD"}), json!({})).await;
        assert_ne!(result["isError"], true, "{result}");
        let data: Value = serde_json::from_str(text(&result, 0)).unwrap();
        assert_eq!(data, result["structuredContent"]);
        let meta = &result["_meta"];
        assert!(meta["toolwire/call_id"].is_string() && meta.get("toolwire/request_id").is_none(), "{meta}");
        assert!(meta["toolwire/provenance"]["source_ids"].is_array(), "{meta}");
        assert_eq!(result.get("resultType").is_some(), era == Era::New);
    }
}

#[tokio::test]
async fn a_failure_is_words_that_begin_with_its_code_and_no_data() {
    let house = house();
    let talk = house.talk("riley");
    for era in ERAS {
        let limited = json!({"code": "RATE_LIMITED", "retry_after": "12s"});
        let result = call(&talk, era, "debug_fail", limited, json!({})).await;
        assert_eq!(result["isError"], true, "{result}");
        assert!(result.get("structuredContent").is_none());
        assert!(text(&result, 0).starts_with("FAILED RATE_LIMITED: "), "{result}");
        assert!(text(&result, 0).ends_with("; call again in 12 s"), "{result}");
        let error = &result["_meta"]["toolwire/error"];
        assert_eq!(serde_json::from_str::<Value>(text(&result, 1)).unwrap(), *error);
        assert_eq!((&error["code"], &error["retry_after_ms"]), (&json!("RATE_LIMITED"), &json!(12_000)));
        assert_eq!((&error["retryable"], &error["origin"]), (&json!(true), &json!("source")));
        assert_eq!(error["call_id"], result["_meta"]["toolwire/call_id"]);
        let result = call(&talk, era, "get_quotes", json!({"symbols": 7}), json!({})).await;
        assert!(text(&result, 0).starts_with("FAILED INVALID_ARGUMENT: "), "{result}");
        assert!(!result["_meta"]["toolwire/error"]["field_violations"].as_array().unwrap().is_empty());
    }
}

#[tokio::test]
async fn a_write_is_told_its_key_and_a_repeat_with_it_is_done_once() {
    let house = house();
    let talk = house.talk("riley");
    let arguments = json!({"value": "once"});
    let first = call(&talk, Era::Old, "debug_write", arguments.clone(), json!({})).await;
    let key = first["_meta"]["toolwire/request_id"].as_str().unwrap().to_owned();
    let mut repeat = arguments.clone();
    repeat["request_id"] = key.clone().into();
    let again = call(&talk, Era::New, "debug_write", repeat, json!({})).await;
    assert_eq!(first["structuredContent"], again["structuredContent"]);
    // A contradiction is neither a repeat nor another write.
    let meta = json!({"toolwire/request_id": key});
    let other = json!({"value": "once", "request_id": RequestId::generate().to_string()});
    let result = call(&talk, Era::New, "debug_write", other, meta).await;
    assert!(text(&result, 0).starts_with("FAILED INVALID_ARGUMENT: "), "{result}");
    assert_eq!(result["_meta"]["toolwire/error"]["field_violations"][0]["pointer"], "/request_id");
    let reused = json!({"value": "another", "request_id": key});
    let result = call(&talk, Era::New, "debug_write", reused, json!({})).await;
    assert!(text(&result, 0).starts_with("FAILED REQUEST_ID_REUSED: "), "{result}");
    let malformed =
        call(&talk, Era::New, "debug_write", json!({"value": "x", "request_id": "7"}), json!({})).await;
    assert!(text(&malformed, 0).starts_with("FAILED INVALID_ARGUMENT: "), "{malformed}");
}

#[tokio::test]
async fn progress_rises_strictly_and_comes_to_those_who_want_it() {
    let house = house();
    let talk = house.talk("riley");
    let arguments = json!({"duration": "0.2s", "progress_interval": "0.02s"});
    for era in ERAS {
        let message = Message::call(era, "debug_sleep", &arguments, &json!({"progressToken": "p"}));
        let mut told = messages(&message.send(&talk, "/mcp").await);
        assert!(told.pop().unwrap()["result"]["structuredContent"].is_object());
        let numbers: Vec<_> = told.iter().map(|it| it["params"]["progress"].as_f64().unwrap()).collect();
        assert!(numbers.len() > 1 && numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
        assert!(told.iter().all(|it| it["params"]["progressToken"] == "p"), "{told:?}");
        let answer = Message::call(era, "debug_sleep", &arguments, &json!({})).send(&talk, "/mcp").await;
        assert_eq!(answer.headers["content-type"], "application/json");
    }
    let arguments = json!({"count": 3, "bytes": 8});
    let message = Message::call(Era::New, "debug_stream", &arguments, &json!({"progressToken": 3}));
    let told = messages(&message.send(&talk, "/mcp").await);
    let words: Vec<_> = told.iter().filter_map(|it| it["params"]["message"].as_str()).collect();
    assert!(words.contains(&"part 1") && words.contains(&"part 3"), "{words:?}");
}

#[tokio::test]
async fn a_deadline_comes_from_the_header_or_the_metadata() {
    let house = house();
    let talk = house.talk("riley");
    let arguments = json!({"duration": "60s"});
    for era in ERAS {
        let result =
            call(&talk, era, "debug_sleep", arguments.clone(), json!({"toolwire/timeout_ms": 100})).await;
        assert!(text(&result, 0).starts_with("FAILED DEADLINE_EXCEEDED: "), "{result}");
        let mut message = Message::call(era, "debug_sleep", &arguments, &json!({}));
        message.headers.push(("x-toolwire-timeout", "100ms".to_owned()));
        let result = messages(&message.send(&talk, "/mcp").await).pop().unwrap();
        assert!(text(&result["result"], 0).starts_with("FAILED DEADLINE_EXCEEDED: "), "{result}");
    }
}

#[tokio::test]
async fn metadata_name_the_definition_and_the_session() {
    let house = house();
    let talk = house.talk("riley");
    let meta = json!({"toolwire/expected_digest": "0".repeat(64), "toolwire/session_id": "s-1"});
    let result = call(&talk, Era::New, "get_quotes", json!({"symbol": "AMD"}), meta).await;
    assert!(text(&result, 0).starts_with("FAILED DEFINITION_CHANGED: "), "{result}");
}

#[tokio::test]
async fn text_from_outside_stands_between_lines_that_its_authors_cannot_forge() {
    let house = house();
    house.patch("get_quotes", &json!({"untrusted": true}));
    let talk = house.talk("riley");
    let result = call(&talk, Era::New, "get_quotes", json!({"symbol": "AMD"}), json!({})).await;
    let data = &result["structuredContent"];
    assert_eq!(data["_meta"], "USER_GENERATED_CONTENT_BELOW");
    let nonce = data["nonce"].as_str().unwrap();
    assert_eq!(text(&result, 0).matches(nonce).count(), 2, "{result}");
}
