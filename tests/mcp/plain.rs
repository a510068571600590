//! Calls whose answer is one message are answered without the service of rmcp, and in the same words.

use serde_json::{Value, json};

use super::client::{ERAS, Era, Message, house, messages};
use crate::http::talk::{Answer, Talk};

/// The same message, in a form that the service reads: it has a member that nobody knows.
fn to_service(message: &Message) -> Message {
    let mut body = message.body.clone();
    if let Some(params) = body["params"].as_object_mut() {
        params.insert("unknown".to_owned(), Value::Null);
    }
    Message { headers: message.headers.clone(), body }
}

/// The text of a message but for the number of its call, and what differs from call to call.
fn without_numbers(text: &str, message: &Value) -> String {
    let numbers =
        ["/result/_meta/toolwire~1call_id", "/result/_meta/toolwire~1request_id", "/error/data/call_id"];
    let numbers = numbers.iter().filter_map(|pointer| message.pointer(pointer).and_then(Value::as_str));
    let text = numbers.fold(text.to_owned(), |text, number| text.replace(number, "NUMBER"));
    match message.pointer("/result/structuredContent/nonce").and_then(Value::as_str) {
        Some(nonce) => text.replace(nonce, "NONCE"),
        None => text,
    }
}

fn comparable(answer: &Answer) -> (u16, String, String) {
    let text = without_numbers(&answer.text, &answer.json());
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

/// One with progress goes to the pipeline by `InvokeTool`, one without by a call that the face makes itself.
#[tokio::test]
async fn a_call_with_progress_is_answered_as_one_without() {
    let house = house();
    let talk = house.talk("riley");
    let (quotes, long) = (json!({"symbol": "AMD"}), "x".repeat(129));
    for era in ERAS {
        for (arguments, meta) in [
            (&quotes, json!({})),
            (&json!({"symbol": 7}), json!({})),
            (&json!({"symbol": null}), json!({})),
            (&json!({}), json!({})),
            (&quotes, json!({"toolwire/task_id": long})),
            (&quotes, json!({"toolwire/session_id": long})),
            (&quotes, json!({"toolwire/task_id": "t", "toolwire/session_id": "s"})),
            (&quotes, json!({"toolwire/expected_digest": "f00"})),
            (&quotes, json!({"toolwire/expected_digest": "0".repeat(64)})),
            (&quotes, json!({"toolwire/expected_digest": "f00", "toolwire/task_id": long})),
            (&quotes, json!({"toolwire/timeout_ms": 0})),
            (&quotes, json!({"toolwire/timeout_ms": 60_000})),
        ] {
            let without = Message::call(era, "get_quotes", arguments, &meta).send(&talk, "/mcp").await;
            let mut followed = meta.clone();
            followed["progressToken"] = "p".into();
            let with = Message::call(era, "get_quotes", arguments, &followed).send(&talk, "/mcp").await;
            let end = messages(&with).pop().unwrap_or_else(|| panic!("{with:?}"));
            // The events of a call that is refused do not name it.
            let nameless = |message: Value| {
                let text = without_numbers(&message.to_string(), &message).replace("NUMBER", "");
                text.replace(r#""toolwire/call_id":"","#, "")
            };
            assert_eq!(nameless(without.json()), nameless(end), "{arguments} {meta}");
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
async fn what_a_client_takes_is_read_by_its_grammar() {
    let house = house();
    let talk = house.talk("riley");
    let status = async |accept: &[&str]| {
        let mut message = Message::call(Era::Old, "get_quotes", &json!({"symbol": "AAPL"}), &json!({}));
        message.headers.retain(|(name, _)| *name != "accept");
        message.headers.extend(accept.iter().map(|field| ("accept", (*field).to_owned())));
        message.send(&talk, "/mcp").await.status
    };
    for both in [
        &[][..],
        &["*/*"],
        &["application/*, text/*"],
        &["application/json", "text/event-stream"],
        &["Application/JSON, Text/Event-Stream"],
        &["application/json, */*;q=0.1"],
        &["application/json;q=1, text/event-stream;q=0.9"],
    ] {
        assert_eq!(status(both).await, 200, "{both:?}");
    }
    for one in [&["application/json"][..], &["text/event-stream"], &["text/html"], &["*/*, text/*;q=0"]] {
        assert_eq!(status(one).await, 406, "{one:?}");
    }
}

#[tokio::test]
async fn a_byte_order_mark_and_a_slash_make_no_difference() {
    let house = house();
    let talk = house.talk("riley");
    for era in ERAS {
        for message in [
            Message::call(era, "get_quotes", &json!({"symbol": "AAPL"}), &json!({})),
            Message::new(era, "tools/list", json!({})),
        ] {
            let headers: Vec<_> =
                message.headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
            let marked = talk.send("POST", "/mcp/", &headers, &format!("\u{feff}{}", message.body)).await;
            assert_eq!(
                comparable(&marked),
                comparable(&message.send(&talk, "/mcp").await),
                "{}",
                message.body
            );
        }
    }
}

#[tokio::test]
async fn a_header_of_the_protocol_is_sent_once() {
    let house = house();
    let talk = house.talk("riley");
    for era in ERAS {
        let mut message = Message::call(era, "get_quotes", &json!({"symbol": "AAPL"}), &json!({}));
        message.headers.push(("mcp-protocol-version", "2025-06-18".to_owned()));
        let answer = message.send(&talk, "/mcp").await;
        assert_eq!(answer.status, 400, "{answer:?}");
        assert!(answer.text.contains("`mcp-protocol-version` is sent more than once"), "{answer:?}");
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
