//! What is no good: each is refused by its code, and nothing is done.

use serde_json::{Value, json};

use super::{
    client::{ERAS, Era, Message, NEW, OLD, ask, house, messages},
    confirming::{Client, tasks},
};
use crate::http::house::House;

fn code(answer: &Value) -> i64 {
    answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("{answer}"))
}

#[tokio::test]
async fn foreign_hosts_and_pages_are_forbidden() {
    let house = House::new();
    let talk = house.talk("riley");
    for (name, value) in [("host", "evil.example"), ("origin", "https://evil.example")] {
        let mut message = Message::new(Era::New, "tools/list", json!({}));
        message.headers.push((name, value.to_owned()));
        assert_eq!(message.send(&talk, "/mcp").await.status, 403, "{name}");
    }
}

#[tokio::test]
async fn only_post_is_there() {
    let house = House::new();
    let talk = house.talk("riley");
    for method in ["GET", "DELETE"] {
        let answer = talk.send(method, "/mcp", &[("accept", "text/event-stream")], "").await;
        assert_eq!((answer.status, answer.headers["allow"].to_str().unwrap()), (405, "POST"), "{method}");
    }
}

#[tokio::test]
async fn an_unknown_revision_is_told_those_that_are_known() {
    let house = House::new();
    let talk = house.talk("riley");
    let mut message = Message::new(Era::New, "tools/list", json!({}));
    message.headers.retain(|(name, _)| *name != "mcp-protocol-version");
    message.headers.push(("mcp-protocol-version", "2030-01-01".to_owned()));
    // In the header and the metadata, and in the header alone.
    let with_meta = &mut message.body["params"]["_meta"];
    with_meta["io.modelcontextprotocol/protocolVersion"] = "2030-01-01".into();
    for strip in [false, true] {
        if strip {
            message.body["params"].as_object_mut().unwrap().remove("_meta");
        }
        let answer = message.send(&talk, "/mcp").await;
        assert_eq!(answer.status, 400, "{answer:?}");
        let error = answer.json();
        assert_eq!(code(&error), -32022, "{error}");
        assert!(error["error"]["data"]["supported"].as_array().unwrap().contains(&json!(NEW)), "{error}");
    }
}

/// The oldest one, which libraries know and which is not served.
#[tokio::test]
async fn a_revision_that_is_not_served_is_refused_but_for_the_handshake_which_offers_another() {
    let house = House::new();
    let talk = house.talk("riley");
    let oldest = "2024-11-05";
    let with_header = |method: &str, params: Value| {
        let mut message = Message::new(Era::Old, method, params);
        message.headers.retain(|(name, _)| *name != "mcp-protocol-version");
        message.headers.push(("mcp-protocol-version", oldest.to_owned()));
        message
    };
    let answer = with_header("tools/list", json!({})).send(&talk, "/mcp").await;
    assert_eq!((answer.status, code(&answer.json())), (400, -32022), "{answer:?}");
    assert_eq!(answer.json()["id"], 7, "{answer:?}");
    let client = json!({"name": "test", "version": "1"});
    let params = json!({"protocolVersion": oldest, "capabilities": {}, "clientInfo": client});
    let answer = with_header("initialize", params).send(&talk, "/mcp").await.ok();
    assert_eq!(answer["result"]["protocolVersion"], OLD, "{answer}");
}

#[tokio::test]
async fn headers_that_say_something_else_are_refused() {
    let house = House::new();
    let talk = house.talk("riley");
    let arguments = json!({"symbol": "AMD"});
    for (name, value) in
        [("mcp-protocol-version", "2025-11-25"), ("mcp-method", "tools/list"), ("mcp-name", "get_symbol")]
    {
        let mut message = Message::call(Era::New, "get_quotes", &arguments, &json!({}));
        message.headers.retain(|(it, _)| *it != name);
        message.headers.push((name, value.to_owned()));
        let answer = message.send(&talk, "/mcp").await;
        assert_eq!((answer.status, code(&answer.json())), (400, -32020), "{name}: {answer:?}");
    }
}

#[tokio::test]
async fn what_is_no_message_is_an_error_that_clients_can_read() {
    let house = House::new();
    let talk = house.talk("riley");
    let list = Message::new(Era::Old, "tools/list", json!({}));
    let headers: Vec<_> = list.headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let batch = json!([list.body]).to_string();
    for (body, expected) in
        [("{", -32700), ("nonsense", -32700), (&*batch, -32600), ("{}", -32600), ("3", -32600)]
    {
        let answer = talk.send("POST", "/mcp", &headers, body).await;
        assert_eq!((answer.status, code(&answer.json())), (400, expected), "{body}");
    }
    let large = format!("{{\"a\": \"{}\"}}", "x".repeat(2 * 1024 * 1024));
    assert!((400..500).contains(&talk.send("POST", "/mcp", &headers, &large).await.status));
}

#[tokio::test]
async fn what_the_program_did_wrong_is_an_error_of_the_protocol() {
    let house = house();
    let talk = house.talk("riley");
    let deep = (0..40).fold(json!(1), |inner, _| json!([inner]));
    for era in ERAS {
        for params in [
            json!({"name": "get_quote", "arguments": {"symbol": "AMD"}}),
            json!({"name": "get_quotes", "arguments": [1]}),
            json!({"name": "get_quotes", "arguments": "AMD"}),
            json!({"name": "get_quotes", "arguments": {"symbol": deep}}),
            json!({"name": "get_quotes", "_meta": {"toolwire/timeout_ms": "soon"}}),
            json!({"name": "debug_write", "arguments": {"value": "x"}, "_meta": {"toolwire/request_id": "7"}}),
        ] {
            let answer = ask(&talk, era, "tools/call", params.clone()).await;
            assert_eq!(code(&answer), -32602, "{params}: {answer}");
        }
        for cursor in [json!("No Name"), json!(""), json!(7), json!(["get_quotes"])] {
            let answer = ask(&talk, era, "tools/list", json!({"cursor": cursor})).await;
            assert_eq!(code(&answer), -32602, "{cursor}: {answer}");
        }
        let answer = ask(&talk, era, "tools/invent", json!({})).await;
        assert_eq!(code(&answer), -32601, "{answer}");
        for method in ["resources/list", "prompts/list", "resources/templates/list"] {
            assert_eq!(code(&ask(&talk, era, method, json!({})).await), -32601, "{method}");
        }
    }
    // The newest revision has no handshake.
    assert_eq!(code(&ask(&talk, Era::New, "initialize", json!({})).await), -32601);
}

#[tokio::test]
async fn parameters_of_another_form_are_wrong_whatever_the_method() {
    let house = house();
    let client = Client::new(house.talk("riley"), tasks());
    for (method, params) in [
        ("tools/call", json!({"arguments": {}})),
        ("tools/call", json!({"name": 7})),
        ("tasks/get", json!({})),
        ("tasks/get", json!({"taskId": 7})),
        ("tasks/cancel", json!({"task": "x"})),
        ("tasks/update", json!({"taskId": 7, "inputResponses": {}})),
        ("subscriptions/listen", json!({})),
    ] {
        let answer = client.ask(method, params.clone()).await;
        assert_eq!(code(&answer), -32602, "{method} {params}: {answer}");
    }
}

#[tokio::test]
async fn credentials_are_those_of_every_face() {
    let house = House::with(|config| {
        let user = toolwire::config::AuthUser::new("riley".parse().unwrap(), "a-token".into());
        config.auth.users = vec![user];
    });
    let talk = house.talk("riley");
    let mut message = Message::new(Era::New, "tools/list", json!({}));
    let answer = message.send(&talk, "/mcp").await;
    assert_eq!((answer.status, answer.headers["www-authenticate"].to_str().unwrap()), (401, "Bearer"));
    message.headers.push(("authorization", "Bearer a-token".to_owned()));
    let answer = message.send(&talk, "/mcp").await;
    assert!(messages(&answer)[0]["result"]["tools"].is_array(), "{answer:?}");
}
