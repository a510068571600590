//! What a client may take: bytes of a body, time for it, a place among others, and what a panic takes from them.

use std::time::Duration;

use crate::{
    http::{
        raw::{Raw, ask},
        toys::{COUNT, FLOOD, PANIC, READY, Toys, UPLOAD, WATCH},
    },
    support::server::config_with_http,
};

const JSON: &str = "content-type: application/json";
const MEGABYTE: usize = 1024 * 1024;

#[tokio::test]
async fn a_body_that_is_too_long_is_refused_whether_its_length_is_said_or_not() {
    let toys = Toys::start();
    let body = " ".repeat(MEGABYTE);
    assert_eq!(ask(toys.http, "POST", COUNT, &[JSON], &body).await.body, MEGABYTE.to_string());
    let answer = ask(toys.http, "POST", COUNT, &[JSON], &format!("{body} ")).await;
    assert_eq!((answer.status, answer.code().as_str()), (413, "MESSAGE_TOO_LARGE"));

    let mut raw = Raw::connect(toys.http).await;
    raw.say(format!(
        "POST {COUNT} HTTP/1.1\r\nhost: localhost\r\n{JSON}\r\ntransfer-encoding: chunked\r\n\r\n"
    ))
    .await;
    let chunk = format!("{:x}\r\n{}\r\n", 64 * 1024, " ".repeat(64 * 1024));
    for _ in 0..17 {
        raw.say(&chunk).await;
    }
    assert_eq!(raw.answer().await.status, 413);
    assert_eq!(raw.rest().await, "", "the connection is closed");
}

#[tokio::test]
async fn a_length_beyond_the_bound_is_refused_before_a_byte_is_sent() {
    let toys = Toys::start();
    let mut raw = Raw::connect(toys.http).await;
    let head = format!("POST {COUNT} HTTP/1.1\r\nhost: localhost\r\n{JSON}\r\n");
    raw.say(format!("{head}expect: 100-continue\r\ncontent-length: 2000000\r\n\r\n")).await;
    assert_eq!(raw.answer().await.status, 413);
}

#[tokio::test]
async fn a_body_that_is_read_as_it_comes_may_be_longer() {
    let toys = Toys::start();
    let body = " ".repeat(3 * MEGABYTE);
    let answer = ask(toys.http, "PUT", UPLOAD, &["content-type: text/plain"], &body).await;
    assert_eq!((answer.status, answer.body), (200, body.len().to_string()));
}

#[tokio::test]
async fn a_body_that_does_not_come_ends_its_connection_alone() {
    let mut config = config_with_http();
    config.server.limits.request_timeout = Duration::from_millis(200);
    let toys = Toys::with(config);
    let mut slow = Raw::connect(toys.http).await;
    slow.say(format!("POST {COUNT} HTTP/1.1\r\nhost: localhost\r\n{JSON}\r\ncontent-length: 10\r\n\r\n{{"))
        .await;
    assert_eq!(ask(toys.http, "POST", COUNT, &[JSON], "{}").await.body, "2");
    let answer = slow.answer().await;
    assert_eq!((answer.status, answer.code().as_str()), (408, "REQUEST_INCOMPLETE"));
    assert_eq!(slow.rest().await, "");
}

#[tokio::test]
async fn a_user_has_a_share_of_the_room_on_both_ports_together() {
    let mut config = config_with_http();
    config.server.limits.max_watches_per_user = 1;
    let toys = Toys::with(config);
    let mut watch = Raw::connect(toys.http).await;
    watch.ask("GET", WATCH, &[], "").await;
    watch.until("event: first").await;
    let answer = ask(toys.http, "GET", WATCH, &[], "").await;
    assert_eq!((answer.status, answer.code().as_str()), (429, "SHARE_EXHAUSTED"));
    assert_eq!(answer.headers["retry-after"], "1");
    let mut other = Raw::connect(toys.http).await;
    other.ask("GET", WATCH, &["x-toolwire-user: other"], "").await;
    assert_eq!(other.head().await.status, 200);
}

#[tokio::test]
async fn a_panic_is_one_answer_and_the_connection_goes_on() {
    let toys = Toys::start();
    let mut raw = Raw::connect(toys.http).await;
    raw.ask("GET", PANIC, &[], "").await;
    let answer = raw.answer().await;
    assert_eq!((answer.status, answer.code().as_str()), (500, "INTERNAL"));
    assert!(!answer.body.contains("as asked"), "{answer:?}");
    raw.ask("GET", READY, &[], "").await;
    assert_eq!(raw.answer().await.body, "\"ready\"");
}

#[tokio::test]
async fn a_reader_that_stalls_keeps_its_share_until_its_deadline_and_no_longer() {
    let mut config = config_with_http();
    config.server.limits.max_watches_per_user = 1;
    let toys = Toys::with(config);
    let mut stalled = Raw::connect(toys.http).await;
    stalled.ask("GET", FLOOD, &["x-toolwire-timeout: 500ms"], "").await;
    // It reads nothing more while the server fills every buffer.
    assert_eq!(stalled.head().await.status, 200);
    let mut shed = 0;
    loop {
        let mut raw = Raw::connect(toys.http).await;
        raw.ask("GET", WATCH, &[], "").await;
        match raw.head().await.status {
            200 => break,
            status => assert_eq!(status, 429),
        }
        shed += 1;
    }
    assert!(shed > 0, "its share was free at once");
}

#[tokio::test]
async fn head_is_answered_as_get_without_its_body() {
    let toys = Toys::start();
    let mut raw = Raw::connect(toys.http).await;
    raw.say(format!("HEAD {READY} HTTP/1.1\r\nhost: localhost\r\n\r\n")).await;
    let answer = raw.head().await;
    assert_eq!((answer.status, answer.headers["content-length"].as_str()), (200, "7"));
    raw.ask("GET", READY, &[], "").await;
    assert_eq!(raw.answer().await.body, "\"ready\"");
}
