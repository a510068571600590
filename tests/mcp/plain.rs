//! Calls whose answer is one message are answered without the service of rmcp, and in the same words.

use serde_json::{Value, json};

use super::client::{ERAS, Era, Message, house, messages};
use crate::http::talk::{Answer, Talk};

/// The same message, in a form that the service reads: a weight makes no difference to what a client takes.
fn to_service(message: &Message) -> Message {
    let weighed = ("accept", "application/json;q=1, text/event-stream".to_owned());
    let rest = message.headers.iter().filter(|(name, _)| *name != "accept").cloned();
    Message { headers: rest.chain([weighed]).collect(), body: message.body.clone() }
}

/// An answer but for the number of its call, and what differs from call to call.
fn comparable(answer: &Answer) -> (u16, String, String) {
    let message = answer.json();
    let numbers =
        ["/result/_meta/toolwire~1call_id", "/result/_meta/toolwire~1request_id", "/error/data/call_id"];
    let numbers = numbers.iter().filter_map(|pointer| message.pointer(pointer).and_then(Value::as_str));
    let mut text = numbers.fold(answer.text.clone(), |text, number| text.replace(number, "NUMBER"));
    if let Some(nonce) = message.pointer("/result/structuredContent/nonce").and_then(Value::as_str) {
        text = text.replace(nonce, "NONCE");
    }
    (answer.status, answer.headers["content-type"].to_str().unwrap().to_owned(), text)
}

async fn assert_same(talk: &Talk, message: &Message) {
    let plain = comparable(&message.send(talk, "/mcp").await);
    let by_service = comparable(&to_service(message).send(talk, "/mcp").await);
    assert_eq!(plain, by_service, "{}", message.body);
}

#[tokio::test]
async fn every_kind_of_answer_is_that_of_the_service() {
    let house = house();
    house.patch("get_positions", &json!({"untrusted": true}));
    let talk = house.talk("riley");
    for era in ERAS {
        for (tool, arguments, meta) in [
            ("get_quotes", json!({"symbol": "AAPL"}), json!({})),
            ("get_positions", json!({}), json!({})),
            ("get_quotes", json!({"symbols": 7}), json!({})),
            ("get_quotes", json!({"symbol": "AAPL"}), json!({"toolwire/expected_digest": "0".repeat(64)})),
            ("get_quotes", json!({"symbol": "AAPL"}), json!({"toolwire/task_id": 7})),
            ("get_quote", json!({}), json!({})),
            ("GET QUOTES", json!({}), json!({})),
            ("debug_fail", json!({"code": "RATE_LIMITED", "retry_after": "12s"}), json!({})),
            ("debug_sleep", json!({"duration": "60s"}), json!({"toolwire/timeout_ms": 50})),
            ("debug_write", json!({"value": "x", "request_id": "7"}), json!({})),
            ("get_quotes", (0..40).fold(json!({}), |inner, _| json!({"a": inner})), json!({})),
        ] {
            assert_same(&talk, &Message::call(era, tool, &arguments, &meta)).await;
        }
    }
}

#[tokio::test]
async fn whatever_a_request_lacks_or_has_beside_it_is_answered_alike() {
    let house = house();
    let talk = house.talk("riley");
    for era in ERAS {
        let sound = || Message::call(era, "get_quotes", &json!({"symbol": "AAPL"}), &json!({}));
        let mut messages = Vec::new();
        for (pointer, value) in [
            ("/id", json!("an id")),
            ("/id", json!(7.5)),
            ("/id", Value::Null),
            ("/jsonrpc", json!("1.0")),
            ("/method", json!("tools/calls")),
            ("/params", json!(["get_quotes", {"symbol": "AAPL"}])),
            ("/params/name", json!(7)),
            ("/params/arguments", Value::Null),
            ("/params/arguments", json!([])),
            ("/params/_meta", json!(7)),
            ("/params/_meta/io.modelcontextprotocol~1protocolVersion", json!("2025-11-25")),
            ("/params/_meta/io.modelcontextprotocol~1clientCapabilities", json!(7)),
        ] {
            let mut message = sound();
            let (parent, member) = pointer.rsplit_once('/').unwrap();
            let member = member.replace("~1", "/");
            message.body.pointer_mut(parent).unwrap()[&*member] = value;
            messages.push(message);
        }
        for name in ["mcp-protocol-version", "mcp-method", "mcp-name"] {
            let mut message = sound();
            message.headers.retain(|(header, _)| *header != name);
            messages.push(message);
            let mut message = sound();
            message.headers.push((name, "another".to_owned()));
            messages.push(message);
            let mut message = sound();
            message.headers.retain(|(header, _)| *header != name);
            message.headers.push((name, "2025-06-18".to_owned()));
            messages.push(message);
        }
        let mut message = sound();
        message.body["params"].as_object_mut().unwrap().shift_remove("arguments");
        messages.push(message);
        for message in messages {
            assert_same(&talk, &message).await;
        }
    }
}

#[tokio::test]
async fn a_list_is_no_message() {
    let house = house();
    let talk = house.talk("riley");
    let message = Message::call(Era::Old, "get_quotes", &json!({"symbol": "AAPL"}), &json!({}));
    let body = json!(["2.0", 7, "tools/call", message.body["params"]]);
    let answer = Message { body, ..message }.send(&talk, "/mcp").await;
    assert_eq!((answer.status, &messages(&answer)[0]["error"]["code"]), (400, &json!(-32600)), "{answer:?}");
}
