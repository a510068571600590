//! Requests that two readers may take for different ones: never two requests out of one.

use crate::{
    raw::Raw,
    toys::{COUNT, Toys},
};

/// What somebody hides in a body.
const HIDDEN: &str = "GET /toys/ready HTTP/1.1\r\nhost: localhost\r\n\r\n";

/// Everything that is answered to these bytes. The peer says no more, and waits.
async fn told(toys: &Toys, bytes: &str) -> String {
    let mut raw = Raw::connect(toys.http).await;
    raw.say(bytes).await;
    raw.rest().await
}

fn post(headers: &str, body: &str) -> String {
    format!(
        "POST {COUNT} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{headers}\r\n\r\n{body}"
    )
}

#[track_caller]
fn refused(told: &str, what: &str) {
    assert!(told.starts_with("HTTP/1.1 400 "), "{what}: {told}");
    assert_eq!(told.matches("HTTP/1.1 ").count(), 1, "{what}: {told}");
}

#[tokio::test]
async fn lengths_that_differ_or_are_none_are_refused_and_the_connection_is_closed() {
    let toys = Toys::start();
    for headers in [
        "content-length: 2\r\ncontent-length: 60",
        "content-length: 2, 60",
        "content-length: +2",
        "content-length: -2",
        "content-length: 0x2",
        "content-length: 2a",
        "content-length: 99999999999999999999999",
        "content-length:",
    ] {
        refused(&told(&toys, &post(headers, &format!("{{}}{HIDDEN}"))).await, headers);
    }
}

#[tokio::test]
async fn a_chunked_body_with_a_length_is_read_as_chunked_and_the_connection_is_closed() {
    let toys = Toys::start();
    for headers in [
        "content-length: 2\r\ntransfer-encoding: chunked",
        "transfer-encoding: chunked\r\ncontent-length: 60",
        "Transfer-Encoding: Chunked\r\nContent-Length: 5",
    ] {
        let told = told(&toys, &post(headers, &format!("2\r\n{{}}\r\n0\r\n\r\n{HIDDEN}"))).await;
        assert!(told.starts_with("HTTP/1.1 200 ") && told.ends_with("\r\n\r\n2"), "{headers}: {told}");
        assert_eq!(told.matches("HTTP/1.1 ").count(), 1, "{headers}: {told}");
    }
}

#[tokio::test]
async fn other_codings_are_refused_and_the_connection_is_closed() {
    let toys = Toys::start();
    for headers in [
        "transfer-encoding: identity\r\ncontent-length: 2",
        "transfer-encoding: xchunked",
        "transfer-encoding: chunked, identity",
        "transfer-encoding: chunked\r\ntransfer-encoding: identity",
        "transfer-encoding : chunked",
        "transfer-encoding\u{b}: chunked",
        " transfer-encoding: chunked",
        "x: y\r\n z: w",
        "x: a\u{0}b",
    ] {
        refused(&told(&toys, &post(headers, &format!("0\r\n\r\n{HIDDEN}"))).await, headers);
    }
    let old = format!(
        "POST {COUNT} HTTP/1.0\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n{HIDDEN}"
    );
    refused(&told(&toys, &old).await, "HTTP/1.0");
}

#[tokio::test]
async fn chunks_that_are_none_end_the_connection() {
    let toys = Toys::start();
    for body in
        ["0x2\r\n{}\r\n0\r\n\r\n", "2\r\n{}0\r\n\r\n", "-1\r\n", "fffffffffffffffff\r\n{}", "\r\n0\r\n\r\n"]
    {
        let told = told(&toys, &post("transfer-encoding: chunked", &format!("{body}{HIDDEN}"))).await;
        assert!(!told.contains("HTTP/1.1 200 "), "{body:?}: {told}");
        assert!(told.matches("HTTP/1.1 ").count() <= 1, "{body:?}: {told}");
    }
}

#[tokio::test]
async fn a_bare_line_feed_ends_a_line_and_nothing_else() {
    let toys = Toys::start();
    let mut raw = Raw::connect(toys.http).await;
    raw.say("GET /toys/ready HTTP/1.1\nhost: localhost\nconnection: close\n\n").await;
    let answered = raw.rest().await;
    assert!(answered.starts_with("HTTP/1.1 200 ") && answered.ends_with("\"ready\""), "{answered}");
    assert_eq!(answered.matches("HTTP/1.1 ").count(), 1, "{answered}");
    // A carriage return alone ends none.
    for bytes in [
        "GET /toys/ready HTTP/1.1\rhost: localhost\r\r",
        "GET /toys/ready HTTP/1.1\r\nhost: localhost\r\nx: a\rb\r\n\r\n",
    ] {
        let answered = told(&toys, bytes).await;
        assert!(answered.is_empty() || answered.starts_with("HTTP/1.1 400 "), "{bytes:?}: {answered}");
    }
}

#[tokio::test]
async fn a_request_names_one_host() {
    let toys = Toys::start();
    for head in [
        "GET /toys/ready HTTP/1.1\r\n",
        "GET /toys/ready HTTP/1.1\r\nhost: localhost\r\nhost: localhost\r\n",
        "GET /toys/ready HTTP/1.1\r\nhost: localhost, evil.example\r\n",
        "GET /toys/ready HTTP/1.1\r\nhost: a@localhost\r\n",
        "GET http://evil.example/toys/ready HTTP/1.1\r\nhost: localhost\r\n",
    ] {
        let told = told(&toys, &format!("{head}connection: close\r\n\r\n")).await;
        refused(&told, head);
        assert!(told.contains("INVALID_HOST"), "{head}: {told}");
    }
}

#[tokio::test]
async fn requests_that_follow_each_other_are_answered_in_order() {
    let toys = Toys::start();
    let mut raw = Raw::connect(toys.http).await;
    let two = post("content-length: 2", "{}") + HIDDEN;
    raw.say(&two).await;
    assert_eq!(raw.answer().await.body, "2");
    assert_eq!(raw.answer().await.body, "\"ready\"");
}
