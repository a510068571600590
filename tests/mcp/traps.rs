//! What clients in use trip over, each as its thread tells it.

use serde_json::{Value, json};

use super::client::{ERAS, Era, Message, OLD, ask, call, house, text};
use crate::http::house::House;

/// claude-code#96183: `initialize` after a good `server/discover`.
#[tokio::test]
async fn a_client_may_discover_first_and_then_initialize() {
    let house = House::new();
    let talk = house.talk("riley");
    assert!(ask(&talk, Era::New, "server/discover", json!({})).await["result"].is_object());
    let client = json!({"name": "claude-code", "version": "3"});
    let params = json!({"protocolVersion": OLD, "capabilities": {}, "clientInfo": client});
    assert_eq!(ask(&talk, Era::Old, "initialize", params).await["result"]["protocolVersion"], OLD);
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let headers = [("accept", "application/json, text/event-stream"), ("mcp-protocol-version", OLD)];
    assert_eq!(talk.send("POST", "/mcp", &headers, &initialized.to_string()).await.status, 202);
    assert!(ask(&talk, Era::Old, "tools/list", json!({})).await["result"]["tools"].is_array());
}

/// zenmoney-mcp#16: lists without both are thrown away.
#[tokio::test]
async fn lists_say_how_long_they_hold() {
    let house = House::new();
    let talk = house.talk("riley");
    let list = &ask(&talk, Era::New, "tools/list", json!({})).await["result"];
    assert_eq!((&list["ttlMs"], &list["cacheScope"]), (&json!(60_000), &json!("private")));
}

/// claude-code#62198: a 404 to GET tears the transport down.
#[tokio::test]
async fn a_stream_that_is_asked_for_is_not_there_rather_than_unknown() {
    let house = House::new();
    let answer = house.talk("riley").send("GET", "/mcp", &[("accept", "text/event-stream")], "").await;
    assert_eq!(answer.status, 405);
}

/// Lists that are a day old.
#[tokio::test]
async fn an_old_name_is_told_to_list_again() {
    let house = House::new();
    let talk = house.talk("riley");
    for era in ERAS {
        let answer = ask(&talk, era, "tools/call", json!({"name": "get_quote", "arguments": {}})).await;
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(
            message.contains("get_quotes") && message.contains("was renamed or removed; list again"),
            "{message}"
        );
    }
}

/// EDT-MCP#574, typescript-sdk#1943.
#[tokio::test]
async fn data_are_structured_wherever_there_is_a_schema_and_failures_never() {
    let house = house();
    let talk = house.talk("riley");
    let list = ask(&talk, Era::New, "tools/list", json!({})).await;
    assert!(list["result"]["tools"].as_array().unwrap().iter().all(|tool| tool["outputSchema"].is_object()));
    let good = call(&talk, Era::New, "debug_nested", json!({"depth": 2}), json!({})).await;
    assert!(good["structuredContent"].is_object());
    let bad = call(&talk, Era::New, "debug_panic", json!({}), json!({})).await;
    assert!(bad.get("structuredContent").is_none() && bad["isError"] == true);
    assert!(text(&bad, 0).starts_with("FAILED UNKNOWN: "));
}

/// copilot-cli#4623: providers of models answer 400 to the list.
#[tokio::test]
async fn schemas_of_arguments_have_no_references_unions_or_lists_of_types() {
    fn check(schema: &Value, is_root: bool) {
        let Value::Object(members) = schema else { return };
        assert!(!members.contains_key("$ref"), "{schema}");
        assert!(members.get("type").is_none_or(Value::is_string), "{schema}");
        assert!(
            !is_root || ["anyOf", "oneOf", "allOf"].iter().all(|it| !members.contains_key(*it)),
            "{schema}"
        );
        for property in
            members.get("properties").and_then(Value::as_object).into_iter().flat_map(|it| it.values())
        {
            check(property, false);
        }
        check(members.get("items").unwrap_or(&Value::Null), false);
    }
    // The Inspector warns of them.
    fn has_list_of_types(schema: &Value) -> bool {
        match schema {
            Value::Object(members) => {
                members.get("type").is_some_and(Value::is_array) || members.values().any(has_list_of_types)
            }
            Value::Array(schemas) => schemas.iter().any(has_list_of_types),
            _ => false,
        }
    }
    let house = house();
    let list = ask(&house.talk("riley"), Era::New, "tools/list", json!({})).await;
    for tool in list["result"]["tools"].as_array().unwrap() {
        check(&tool["inputSchema"], true);
        assert_eq!(tool["inputSchema"]["type"], "object");
        assert!(!has_list_of_types(&tool["outputSchema"]), "{tool}");
    }
}

/// A client that never read past the first page has all tools on it.
#[tokio::test]
async fn all_tools_are_on_one_page() {
    let house = house();
    let message = Message::new(Era::Old, "tools/list", json!({}));
    let list = message.send(&house.talk("riley"), "/mcp").await.ok();
    assert!(list["result"].get("nextCursor").is_none());
}
