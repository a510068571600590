//! Requests that are answered before their bodies have come. Over HTTP/1.1 the answer says that the connection closes,
//! or the next request on it is answered; over HTTP/2 the body is taken, and its stream is not reset.

use std::future::poll_fn;

use bytes::Bytes;
use h2::{Reason, SendStream, client::SendRequest};
use tokio::net::TcpStream;
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

/// The bytes of a body that does not fit into the window of a stream, so that a client waits for the server to read it.
const LARGE: usize = 300_000;

/// One connection over HTTP/2.
struct Http2 {
    sender: SendRequest<Bytes>,
    pings: h2::PingPong,
}

impl Http2 {
    async fn connect(toys: &Toys) -> Self {
        let stream = TcpStream::connect(toys.http).await.unwrap();
        let (sender, mut connection) = h2::client::handshake(stream).await.unwrap();
        let pings = connection.ping_pong().unwrap();
        tokio::spawn(connection);
        Self { sender, pings }
    }

    /// Sends a request, and its body once the server has processed the headers. Returns the status and whether the
    /// whole body was taken.
    async fn refused(&mut self, head: &str, length: usize) -> (u16, Result<(), Reason>) {
        let mut lines = head.lines();
        let mut words = lines.next().unwrap().split(' ');
        let (method, path) = (words.next().unwrap(), words.next().unwrap());
        let mut request = http::Request::builder().method(method).uri(format!("http://localhost{path}"));
        for (name, value) in
            lines.filter_map(|line| line.split_once(": ")).filter(|(name, _)| *name != "host")
        {
            request = request.header(name, value);
        }
        let mut sender = self.sender.clone().ready().await.unwrap();
        let (response, body) = sender.send_request(request.body(()).unwrap(), false).unwrap();
        self.pings.ping(h2::Ping::opaque()).await.unwrap();
        let sent = send(body, length).await;
        (response.await.unwrap().status().as_u16(), sent)
    }
}

/// Sends a body of `length` bytes as the windows allow it.
async fn send(mut body: SendStream<Bytes>, length: usize) -> Result<(), Reason> {
    let mut left = length;
    while left > 0 {
        body.reserve_capacity(left);
        let Some(Ok(capacity)) = poll_fn(|cx| body.poll_capacity(cx)).await else {
            return Err(poll_fn(|cx| body.poll_reset(cx)).await.unwrap());
        };
        left -= capacity;
        body.send_data(Bytes::from(vec![b' '; capacity]), left == 0).unwrap();
    }
    Ok(())
}

#[tokio::test]
async fn over_http2_the_body_of_a_refused_request_is_taken() {
    let toys = toys();
    let mut http2 = Http2::connect(&toys).await;
    let over_limit = ("POST", COUNT, &[JSON, TOKEN] as &[_], 413);
    for (length, row) in REFUSED.map(|row| (LARGE, row)).into_iter().chain([(2_000_000, over_limit)]) {
        let (method, path, headers, status) = row;
        let head = head(method, path, headers, &format!("content-length: {length}"));
        assert_eq!(http2.refused(&head, length).await, (status, Ok(())), "{head}");
    }
}

#[tokio::test]
async fn over_http2_a_body_whose_length_is_unknown_or_excessive_is_not_awaited() {
    let toys = toys();
    let mut http2 = Http2::connect(&toys).await;
    for length in ["x: y", "content-length: 5000000", "expect: 100-continue\r\ncontent-length: 300000"] {
        let head = head("POST", COUNT, &[JSON], length);
        assert_eq!(http2.refused(&head, LARGE).await, (401, Err(Reason::NO_ERROR)), "{head}");
    }
}

#[tokio::test]
async fn over_http2_a_body_that_does_not_come_delays_its_refusal_by_two_seconds_at_most() {
    let toys = toys();
    let Http2 { sender, .. } = Http2::connect(&toys).await;
    let request = http::Request::post(format!("http://localhost{COUNT}")).header("content-length", "2");
    let mut sender = sender.ready().await.unwrap();
    let (response, _body) = sender.send_request(request.body(()).unwrap(), false).unwrap();
    assert_eq!(response.await.unwrap().status(), 415);
}
