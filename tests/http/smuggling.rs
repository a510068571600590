//! Requests that two readers may take for different ones: never two requests out of one.

use tokio::io::AsyncWriteExt;

use crate::http::{
    raw::Raw,
    toys::{COUNT, Toys},
};

/// What somebody hides in a body.
const HIDDEN: &str = "GET /toys/ready HTTP/1.1\r\nhost: localhost\r\n\r\n";

/// Everything that is answered to these bytes. The peer says no more, and waits.
async fn answers_to(toys: &Toys, bytes: &str) -> String {
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
fn assert_refused(told: &str, what: &str) {
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
        assert_refused(&answers_to(&toys, &post(headers, &format!("{{}}{HIDDEN}"))).await, headers);
    }
}

#[tokio::test]
async fn a_length_that_is_stated_twice_is_refused_and_the_connection_is_closed() {
    let toys = Toys::start();
    for headers in [
        "content-length: 2\r\ntransfer-encoding: chunked",
        "transfer-encoding: chunked\r\ncontent-length: 60",
        "Transfer-Encoding: Chunked\r\nx: y\r\nContent-Length: 5",
        "content-length: 2\r\ncontent-length: 2",
    ] {
        let body = format!("2\r\n{{}}\r\n0\r\n\r\n{HIDDEN}");
        assert_refused(&answers_to(&toys, &post(headers, &body)).await, headers);
    }
}

#[tokio::test]
async fn other_codings_are_refused_and_the_connection_is_closed() {
    let toys = Toys::start();
    for headers in [
        "transfer-encoding: identity\r\ncontent-length: 2",
        "transfer-encoding: identity",
        "transfer-encoding:",
        "transfer-encoding: xchunked",
        "transfer-encoding: chunked, identity",
        "transfer-encoding: chunked, chunked",
        "transfer-encoding: gzip, chunked",
        "transfer-encoding: identity, chunked",
        "transfer-encoding: , chunked",
        "transfer-encoding: chunked;q=1",
        "transfer-encoding: \"chunked\"",
        "transfer-encoding: chunked\r\ntransfer-encoding: chunked",
        "transfer-encoding: gzip\r\ntransfer-encoding: chunked",
        "transfer-encoding: chunked\r\ntransfer-encoding: identity",
        "transfer-encoding : chunked",
        "transfer-encoding\u{b}: chunked",
        " transfer-encoding: chunked",
        "x: y\r\n z: w",
        "x: a\u{0}b",
        "x: a\rb",
    ] {
        assert_refused(&answers_to(&toys, &post(headers, &format!("0\r\n\r\n{HIDDEN}"))).await, headers);
    }
    let old = format!(
        "POST {COUNT} HTTP/1.0\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n{HIDDEN}"
    );
    assert_refused(&answers_to(&toys, &old).await, "HTTP/1.0");
}

#[tokio::test]
async fn chunks_that_are_none_are_the_peers_mistake_and_end_the_connection() {
    let toys = Toys::start();
    let (extension, trailers) = ("x".repeat(200_000), "x: y\r\n".repeat(16_000));
    for body in [
        "0x2\r\n{}\r\n0\r\n\r\n",
        "2\r\n{}0\r\n\r\n",
        "-1\r\n",
        "+2\r\n{}\r\n0\r\n\r\n",
        "zz\r\n",
        "fffffffffffffffff\r\n{}",
        "\r\n0\r\n\r\n",
        " 2\r\n{}\r\n0\r\n\r\n",
        ";a\r\n0\r\n\r\n",
        "7fffffffffffffff\r\n{}",
        "2\n{}\n0\n\n",
        "2\r\n{}\n0\r\n\r\n",
        "2;a\nb\r\n{}\r\n0\r\n\r\n",
        "2\r\n{}\r\n0\n\n",
        "2\r\n{}\r\n0\r\nx: y\n\r\n",
        "2\r\n{}\r\n0\r\nx: y\n\n",
        "2\r\n{}\r\n0\r\nx y\r\n\r\n",
        &format!("2;{extension}\r\n{{}}\r\n0\r\n\r\n"),
        &format!("2\r\n{{}}\r\n0\r\n{trailers}\r\n"),
        &format!("2\r\n{{}}\r\n0\r\nx: {extension}\r\n\r\n"),
    ] {
        let told = answers_to(&toys, &post("transfer-encoding: chunked", &format!("{body}{HIDDEN}"))).await;
        let shown = &body[..body.len().min(40)];
        assert_refused(&told, shown);
        assert!(told.contains("MALFORMED_REQUEST"), "{shown:?}: {told}");
    }
}

#[tokio::test]
async fn a_body_that_is_cut_off_is_the_peers_mistake() {
    let toys = Toys::start();
    for (headers, body) in [
        ("transfer-encoding: chunked", ""),
        ("transfer-encoding: chunked", "2"),
        ("transfer-encoding: chunked", "ffffffffffffffff\r\n{"),
        ("transfer-encoding: chunked", "2\r\n{}\r\n0\r\n"),
        ("content-length: 3", "{}"),
        ("content-length: 18446744073709551610", "{}"),
    ] {
        let mut raw = Raw::connect(toys.http).await;
        raw.say(post(headers, body)).await;
        raw.stream.shutdown().await.unwrap();
        let told = raw.rest().await;
        let too_long = told.starts_with("HTTP/1.1 413 ") && headers.len() > 20;
        assert!(too_long || told.starts_with("HTTP/1.1 400 "), "{headers} {body:?}: {told}");
    }
}

#[tokio::test]
async fn a_line_ends_with_both_characters() {
    let toys = Toys::start();
    for bytes in [
        "GET /toys/ready HTTP/1.1\nhost: localhost\n\n",
        "GET /toys/ready HTTP/1.1\r\nhost: localhost\n\r\n",
        "GET /toys/ready HTTP/1.1\r\nhost: localhost\r\n\n",
        "GET /toys/ready HTTP/1.1\r\nx: y\nhost: localhost\r\n\r\n",
        "GET /toys/ready HTTP/1.1\nhost: localhost\r\n\r\n",
        "\nGET /toys/ready HTTP/1.1\r\nhost: localhost\r\n\r\n",
    ] {
        assert_refused(&answers_to(&toys, &format!("{bytes}{HIDDEN}")).await, bytes);
    }
    // Nor is a carriage return alone the end of one.
    for bytes in [
        "GET /toys/ready HTTP/1.1\rhost: localhost\r\r",
        "GET /toys/ready HTTP/1.1\r\nhost: localhost\r\nx: a\rb\r\n\r\n",
    ] {
        let answered = answers_to(&toys, bytes).await;
        assert!(answered.is_empty() || answered.starts_with("HTTP/1.1 400 "), "{bytes:?}: {answered}");
    }
}

/// What comes before a malformed request is answered, and so is one whose bytes come one by one.
#[tokio::test]
async fn a_malformed_request_ends_nothing_before_it() {
    let toys = Toys::start();
    let chunked = post("transfer-encoding: chunked", "2;a=b\r\n{}\r\n0\r\nx: y\r\n\r\n");
    let malformed = "GET /toys/ready HTTP/1.1\nhost: localhost\n\n";
    let mut raw = Raw::connect(toys.http).await;
    raw.say(format!("{HIDDEN}{chunked}{malformed}{HIDDEN}")).await;
    assert_eq!(raw.answer().await.body, "\"ready\"");
    assert_eq!(raw.answer().await.body, "2");
    assert_refused(&raw.rest().await, "the third");

    let mut raw = Raw::connect(toys.http).await;
    for byte in format!("{chunked}{malformed}").bytes() {
        raw.say([byte]).await;
    }
    assert_eq!(raw.answer().await.body, "2");
    assert_refused(&raw.rest().await, "the second");
}

#[tokio::test]
async fn an_expectation_that_is_not_met_is_refused() {
    let toys = Toys::start();
    for value in ["200-ok", "", "100-continue, 200-ok", "100-continue\r\nexpect: 200-ok"] {
        let mut raw = Raw::connect(toys.http).await;
        raw.say(post(&format!("expect: {value}\r\ncontent-length: 2"), "{}")).await;
        let answer = raw.answer().await;
        assert_eq!((answer.status, answer.code().as_str()), (417, "EXPECTATION_FAILED"), "{value}");
    }
    let mut raw = Raw::connect(toys.http).await;
    raw.say(post("Expect: 100-Continue\r\ncontent-length: 2", "")).await;
    assert_eq!(raw.head().await.status, 100);
    raw.say("{}").await;
    assert_eq!(raw.answer().await.body, "2");
}

#[tokio::test]
async fn a_request_names_one_host() {
    let toys = Toys::start();
    for head in [
        "GET /toys/ready HTTP/1.1\r\n",
        "GET /toys/ready HTTP/1.1\r\nhost: localhost\r\nhost: localhost\r\n",
        "GET /toys/ready HTTP/1.1\r\nhost: localhost, evil.example\r\n",
        "GET /toys/ready HTTP/1.1\r\nhost: a@localhost\r\n",
        "GET /toys/ready HTTP/1.1\r\nhost: localhost:http\r\n",
        "GET /toys/ready HTTP/1.1\r\nhost: localhost:99999\r\n",
        "GET /toys/ready HTTP/1.1\r\nhost: localhost:-1\r\n",
        "GET /toys/ready HTTP/1.1\r\nhost: localhost:\r\n",
        "GET /toys/ready HTTP/1.1\r\nhost: localhost:+1\r\n",
        "GET /toys/ready HTTP/1.1\r\nhost: localhost:1:2\r\n",
        "GET /toys/ready HTTP/1.1\r\nhost: [localhost]\r\n",
        "GET /toys/ready HTTP/1.1\r\nhost: [::1\r\n",
        "GET /toys/ready HTTP/1.1\r\nhost: [::1]x\r\n",
        "GET http://localhost:x/toys/ready HTTP/1.1\r\nhost: localhost:x\r\n",
        "GET http://evil.example/toys/ready HTTP/1.1\r\nhost: localhost\r\n",
    ] {
        let told = answers_to(&toys, &format!("{head}connection: close\r\n\r\n")).await;
        assert_refused(&told, head);
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
