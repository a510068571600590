//! Requests over HTTP/1.1 that are answered before their bodies have come: the answer says that the connection closes,
//! or the next request on it is answered.

use toolwire::config::AuthUser;

use crate::{
    http::{
        raw::{Raw, ask},
        toys::{COUNT, READY, Toys},
    },
    support::server::config_with_http,
};

const JSON: &str = "content-type: application/json\r\n";
const TEXT: &str = "content-type: text/plain\r\n";
const TOKEN: &str = "authorization: Bearer a-long-enough-t0ken\r\n";

/// The method, the path and headers of a request that is refused by these alone, and the status.
const REFUSED: [(&str, &str, &[&str], u16); 12] = [
    ("POST", COUNT, &[JSON], 401),
    ("POST", "/mcp", &[JSON], 401),
    ("POST", "/v1/tools/get_quotes:call", &[JSON], 401),
    ("POST", COUNT, &[JSON, "authorization: Bearer wrong\r\n"], 401),
    ("POST", COUNT, &[JSON, TOKEN, "origin: http://evil.example\r\n"], 403),
    ("POST", "/toys/lost", &[JSON, TOKEN], 404),
    ("DELETE", "/toys/lost", &[TOKEN], 404),
    ("POST", READY, &[JSON, TOKEN], 405),
    ("POST", "/.well-known/oauth-protected-resource/mcp", &[JSON], 405),
    ("PUT", COUNT, &[JSON, TOKEN], 405),
    ("POST", COUNT, &[TEXT, TOKEN], 415),
    ("POST", "/mcp", &[TEXT, TOKEN], 415),
];

fn toys() -> Toys {
    let mut config = config_with_http();
    let token = "a-long-enough-t0ken".to_owned();
    config.auth.users = vec![AuthUser::new("riley".parse().unwrap(), token.into())];
    config.server.limits.max_unfinished_requests = 1;
    config.server.limits.max_unfinished_per_user = 1;
    Toys::with(config)
}

fn head(method: &str, path: &str, headers: &[&str], length: &str) -> String {
    format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\n{}{length}\r\n\r\n", headers.concat())
}

/// Sends a request whose body comes after the answer.
async fn refused_early(toys: &Toys, head: &str, body: &str) -> u16 {
    let mut raw = Raw::connect(toys.http).await;
    raw.say(head).await;
    let answer = raw.answer().await;
    assert_eq!(answer.headers.get("connection").map(String::as_str), Some("close"), "{head}{answer:?}");
    raw.say(body).await;
    assert_eq!(raw.rest().await, "", "{head}");
    answer.status
}

#[tokio::test]
async fn an_answer_before_the_body_says_that_the_connection_closes() {
    let toys = toys();
    for (method, path, headers, status) in REFUSED {
        for (length, body) in
            [("content-length: 2", "{}"), ("transfer-encoding: chunked", "2\r\n{}\r\n0\r\n\r\n")]
        {
            let head = head(method, path, headers, length);
            assert_eq!(refused_early(&toys, &head, body).await, status, "{head}");
        }
    }
    for length in ["content-length: 2000000", "expect: 100-continue\r\ncontent-length: 2000000"] {
        let head = head("POST", COUNT, &[JSON, TOKEN], length);
        assert_eq!(refused_early(&toys, &head, &" ".repeat(100_000)).await, 413, "{head}");
    }
}

#[tokio::test]
async fn a_request_that_is_one_too_many_is_told_that_its_connection_closes() {
    let toys = toys();
    let mut first = Raw::connect(toys.http).await;
    first.say(head("POST", COUNT, &[JSON, TOKEN], "expect: 100-continue\r\ncontent-length: 2")).await;
    first.until("HTTP/1.1 100 Continue\r\n\r\n").await;
    let status = refused_early(&toys, &head("POST", COUNT, &[JSON, TOKEN], "content-length: 2"), "{}").await;
    assert!(matches!(status, 429 | 503), "{status}");
    first.say("{}").await;
    assert_eq!(first.answer().await.body, "2");
    // With its body it needs no place among those that wait for theirs.
    let whole = ask(toys.http, "POST", COUNT, &[JSON.trim_end(), TOKEN.trim_end()], "{}").await;
    assert_eq!(whole.status, 200);
}

#[tokio::test]
async fn a_connection_whose_bodies_come_is_kept_whatever_the_answers_are() {
    let toys = toys();
    for (method, path, headers, status) in REFUSED {
        let whole = head(method, path, headers, "content-length: 2") + "{}";
        let mut raw = Raw::connect(toys.http).await;
        for _ in 0..3 {
            raw.say(&whole).await;
            let answer = raw.answer().await;
            assert_eq!(answer.status, status, "{whole}");
            assert!(!answer.headers.contains_key("connection"), "{whole}{answer:?}");
        }
        // One that is answered once it is whole, in two pieces.
        raw.say(head("POST", COUNT, &[JSON, TOKEN], "content-length: 2")).await;
        raw.say("{}").await;
        let answer = raw.answer().await;
        assert_eq!((answer.body.as_str(), answer.headers.get("connection")), ("2", None), "{whole}");
    }
}
