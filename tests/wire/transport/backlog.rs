//! What waits for readers is counted wherever it waits, and the largest of it gives way beyond a bound.

use std::time::Duration;

use h2::client::{Builder, ResponseFuture};
use tokio::{io::AsyncWriteExt, task::yield_now};
use tonic::Code;
use toolwire::{
    config::{self, ServerBounds},
    transport::Config,
};

use super::{
    client::{Client, answer, soon, tcp},
    server::{FLOOD, LARGE, LARGE_BYTES, PROMPT, Server},
};

/// A message of [`LARGE`], with its five bytes before it.
const LARGE_FRAME: usize = LARGE_BYTES + 5;

/// The usual numbers, but for what may wait for one user and for one connection.
fn bounded(user: usize, connection: usize) -> Config {
    let limits = ServerBounds {
        max_unread_per_user: user,
        max_unread_per_connection: connection,
        ..ServerBounds::default()
    };
    Config::from(&config::Server { limits, ..config::Server::default() })
}

/// Waits until the backlog holds this number of bytes.
async fn held(config: &Config, bytes: usize) {
    let counted = async {
        while config.backlog.held() != bytes {
            yield_now().await;
        }
    };
    let counted = tokio::time::timeout(Duration::from_secs(20), counted).await;
    assert!(counted.is_ok(), "{} bytes wait, and not {bytes}", config.backlog.held());
}

async fn reads_nothing(server: &Server) -> Client {
    Client::with(server.address, Builder::new().initial_window_size(0)).await
}

async fn start_large(client: &Client, count: usize) -> Vec<ResponseFuture> {
    let mut calls = Vec::new();
    for _ in 0..count {
        calls.push(client.start(LARGE, &[]).await);
    }
    calls
}

#[tokio::test]
async fn every_byte_of_an_answer_counts_once_until_it_is_read_or_nobody_reads_it() {
    let config = Config::default();
    let server = Server::start(config.clone());
    let client = reads_nothing(&server).await;
    let mut calls = start_large(&client, 3).await;
    held(&config, 3 * LARGE_FRAME).await;
    assert_eq!(config.backlog.held_for("dev"), 3 * LARGE_FRAME);
    // A part of it is in HTTP/2's own buffer.
    let body = calls.pop().unwrap().await.unwrap().into_body();
    drop(body);
    held(&config, 2 * LARGE_FRAME).await;
    let reader = Client::connect(server.address).await;
    assert_eq!(soon(reader.call(LARGE, &[])).await.body.len(), LARGE_FRAME);
    held(&config, 2 * LARGE_FRAME).await;
    drop((calls, client));
    held(&config, 0).await;
}

#[tokio::test]
async fn beyond_the_bound_of_a_user_an_answer_as_large_as_the_others_is_a_status() {
    let config = bounded(5 * LARGE_FRAME / 2, 1 << 30);
    let server = Server::start(config.clone());
    let client = reads_nothing(&server).await;
    let _calls = start_large(&client, 2).await;
    held(&config, 2 * LARGE_FRAME).await;
    for client in [&client, &Client::connect(server.address).await] {
        let refused = soon(client.call(LARGE, &[])).await;
        assert_eq!(refused.refusal(), (Code::ResourceExhausted, "TOO_MUCH_UNREAD".to_owned()));
    }
    held(&config, 2 * LARGE_FRAME).await;
}

#[tokio::test]
async fn beyond_the_bound_of_a_user_a_small_answer_comes_and_a_large_one_ends() {
    let config = bounded(2 * LARGE_FRAME, 1 << 30);
    let server = Server::start(config.clone());
    let client = reads_nothing(&server).await;
    let mut calls = start_large(&client, 2).await;
    held(&config, 2 * LARGE_FRAME).await;
    let reader = Client::connect(server.address).await;
    assert_eq!(soon(reader.call(PROMPT, &[])).await.status().code(), Code::Ok);
    held(&config, LARGE_FRAME).await;
    let newest = soon(answer(calls.pop().unwrap())).await.unwrap_err();
    assert_eq!(newest.reason(), Some(h2::Reason::CANCEL));
}

#[tokio::test]
async fn a_connection_has_a_bound_and_another_of_the_user_goes_on() {
    let config = bounded(1 << 30, 3 * LARGE_FRAME / 2);
    let server = Server::start(config.clone());
    let client = reads_nothing(&server).await;
    let _calls = start_large(&client, 1).await;
    held(&config, LARGE_FRAME).await;
    let refused = soon(client.call(LARGE, &[])).await;
    assert_eq!(refused.refusal(), (Code::ResourceExhausted, "TOO_MUCH_UNREAD".to_owned()));
    let other = Client::connect(server.address).await;
    assert_eq!(soon(other.call(LARGE, &[])).await.status().code(), Code::Ok);
}

/// The client gives all windows there are, and takes nothing from its socket: what HTTP/2 and the connection buffer is
/// more than its one stream has of its own.
#[tokio::test]
async fn what_a_connection_buffers_counts_too() {
    let config = Config::default();
    let server = Server::start(config.clone());
    let mut stream = tcp(server.address).await;
    stream.write_all(&request(FLOOD)).await.unwrap();
    let filled = async {
        // The socket's own buffers are full.
        while config.backlog.held() < 32 * 1024 {
            yield_now().await;
        }
    };
    soon(filled).await;
    assert!(config.backlog.held() < 1024 * 1024, "{}", config.backlog.held());
    drop(stream);
    held(&config, 0).await;
}

/// The preface, the largest windows, and a call with one empty message, as bytes of HTTP/2.
fn request(path: &str) -> Vec<u8> {
    let window = i32::MAX.to_be_bytes();
    let headers = [(":method", "POST"), (":scheme", "http"), (":path", path), (":authority", "x")];
    let headers = headers.into_iter().chain([("content-type", "application/grpc"), ("te", "trailers")]);
    let mut block = Vec::new();
    for (name, value) in headers {
        // Literal, without an index.
        block.push(0);
        for text in [name, value] {
            block.push(u8::try_from(text.len()).unwrap());
            block.extend_from_slice(text.as_bytes());
        }
    }
    let frame = |kind: u8, flags: u8, stream: u32, payload: &[u8]| {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
    };
    [
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
        frame(4, 0, 0, &[&[0, 4], &window[..]].concat()),
        frame(8, 0, 0, &(i32::MAX - 65_535).to_be_bytes()),
        frame(1, 4, 1, &block),
        frame(0, 1, 1, &[0; 5]),
    ]
    .concat()
}
