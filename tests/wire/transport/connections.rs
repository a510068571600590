//! What whole connections get: those that do not speak HTTP/2, that say nothing, that are many, that are old.

use std::time::Duration;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use tonic::Code;
use toolwire::{
    config::ServerBounds,
    transport::{Age, Config},
};

use super::{
    client::{Client, answer, soon, tcp},
    server::{CHECK, Event, PROMPT, SILENT, SLOW, Server, WATCH, limited},
};

/// How an HTTP/2 client begins.
pub(crate) const PREFACE_AND_SETTINGS: &[u8] =
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00";

/// The beginning of a TLS 1.3 `ClientHello`, cut short.
const CLIENT_HELLO: &[u8] = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03";

#[tokio::test]
async fn http_1_is_told_what_this_port_speaks() {
    let server = Server::start(Config::default());
    let mut stream = tcp(server.address).await;
    stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: tools.example\r\n\r\n").await.unwrap();
    let told = String::from_utf8(to_end(&mut stream).await).unwrap();
    assert!(told.starts_with("HTTP/1.1 505 HTTP Version Not Supported\r\n"), "{told}");
    assert!(told.contains("gRPC over HTTP/2"), "{told}");
}

#[tokio::test]
async fn http_1_may_finish_sending_its_body() {
    let server = Server::start(Config::default());
    let mut stream = tcp(server.address).await;
    stream.write_all(b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 50000\r\n\r\n").await.unwrap();
    assert!(to_end(&mut stream).await.starts_with(b"HTTP/1.1 505 "));
    for half in [vec![b'x'; 25_000], vec![b'x'; 25_000]] {
        stream.write_all(&half).await.expect("half-closed, not reset");
    }
}

#[tokio::test]
async fn a_tls_hello_is_answered_with_what_is_no_tls_and_without_a_reset() {
    let server = Server::start(Config::default());
    let mut stream = tcp(server.address).await;
    stream.write_all(CLIENT_HELLO).await.unwrap();
    let told = String::from_utf8(to_end(&mut stream).await).unwrap();
    assert!(told.ends_with("This port does not speak TLS: use http://."), "{told}");
}

#[tokio::test]
async fn a_silent_connection_is_closed_within_its_bound() {
    let config =
        limited(ServerBounds { preface_timeout: Duration::from_millis(50), ..ServerBounds::default() });
    let server = Server::start(config);
    let client = Client::connect(server.address).await;
    for said in [&b""[..], b"PRI * HTTP/2.0\r\n"] {
        let mut stream = tcp(server.address).await;
        stream.write_all(said).await.unwrap();
        assert_eq!(to_end(&mut stream).await, b"");
    }
    assert_eq!(client.call(PROMPT, &[]).await.status().code(), Code::Ok, "another connection was disturbed");
}

#[tokio::test]
async fn a_preface_may_come_byte_by_byte() {
    let server = Server::start(Config::default());
    let mut stream = tcp(server.address).await;
    stream.set_nodelay(true).unwrap();
    for byte in PREFACE_AND_SETTINGS {
        stream.write_all(&[*byte]).await.unwrap();
        tokio::task::yield_now().await;
    }
    // The server's own SETTINGS frame.
    let mut head = [0; 9];
    soon(stream.read_exact(&mut head)).await.unwrap();
    assert_eq!(head[3], 4);
}

#[tokio::test]
async fn a_connection_beyond_the_cap_waits_for_its_turn() {
    let server = Server::start(limited(ServerBounds { max_connections: 1, ..ServerBounds::default() }));
    let first = Client::connect(server.address).await;
    assert_eq!(first.call(PROMPT, &[]).await.status().code(), Code::Ok);

    let second = Client::connect(server.address).await;
    let waiting = second.start(PROMPT, &[]).await;
    let mut waiting = std::pin::pin!(answer(waiting));
    // A whole call on the first connection, and the second has still no answer.
    tokio::select! {
        biased;
        _ = &mut waiting => panic!("the second connection was served beside the first"),
        answer = first.call(PROMPT, &[]) => assert_eq!(answer.status().code(), Code::Ok),
    }
    drop(first);
    assert_eq!(soon(waiting).await.unwrap().status().code(), Code::Ok);
}

#[tokio::test]
async fn a_peer_beyond_its_share_is_closed_and_a_trusted_one_is_not() {
    let bounded = ServerBounds { max_connections: 4, max_connections_per_peer: 2, ..ServerBounds::default() };
    let trusted_peers = vec!["127.0.0.0/8".parse().unwrap()];
    let trusting = ServerBounds { trusted_peers, ..bounded.clone() };
    for (limits, room) in [(bounded, 2), (trusting, 4)] {
        let server = Server::start(limited(limits));
        let mut clients = Vec::new();
        for _ in 0..room {
            let client = Client::connect(server.address).await;
            assert_eq!(soon(client.call(PROMPT, &[])).await.status().code(), Code::Ok);
            clients.push(client);
        }
        if room == 2 {
            let mut beyond = tcp(server.address).await;
            let mut nothing = Vec::new();
            // Closed or reset.
            let _ = soon(beyond.read_to_end(&mut nothing)).await;
            assert!(nothing.is_empty());
            clients.pop();
            // Its place is free once the server has seen that it left.
            while Client::try_connect(server.address).await.is_none() {
                tokio::task::yield_now().await;
            }
        }
    }
}

#[tokio::test]
async fn connections_without_a_request_make_room_for_others_of_their_peer() {
    let server = Server::start(limited(ServerBounds {
        max_connections: 40,
        max_connections_per_peer: 4,
        ..ServerBounds::default()
    }));
    let first = Client::connect(server.address).await;
    assert_eq!(soon(first.call(PROMPT, &[])).await.status().code(), Code::Ok);
    let mut silent = Vec::new();
    for said in [&b""[..], b"PRI * HTTP/2.0\r\n", PREFACE_AND_SETTINGS].repeat(4) {
        let mut stream = tcp(server.address).await;
        stream.write_all(said).await.unwrap();
        silent.push(stream);
    }
    for _ in 0..4 {
        let newcomer = Client::connect(server.address).await;
        assert_eq!(soon(newcomer.call(PROMPT, &[])).await.status().code(), Code::Ok);
    }
    assert_eq!(soon(first.call(PROMPT, &[])).await.status().code(), Code::Ok, "it has sent a request");
    // The oldest have gone, whatever they said.
    for stream in &mut silent[..8] {
        let _ = soon(stream.read_to_end(&mut Vec::new())).await;
    }
}

#[tokio::test]
async fn connections_that_never_authenticate_make_room_for_those_that_do() {
    let unauthenticated_timeout = Duration::from_millis(100);
    let config = limited(ServerBounds {
        max_connections: 4,
        max_connections_per_peer: 4,
        unauthenticated_timeout,
        ..ServerBounds::default()
    });
    let server = Server::start(config);
    let known = Client::connect(server.address).await;
    assert_eq!(soon(known.call(PROMPT, &[])).await.status().code(), Code::Ok);
    // A check of health is no credential.
    let checker = Client::connect(server.address).await;
    assert_eq!(soon(checker.call(CHECK, &[])).await.status().code(), Code::Ok);
    let _silent = [Client::connect(server.address).await, Client::connect(server.address).await];
    let newcomer = Client::connect(server.address).await;
    assert_eq!(soon(newcomer.call(PROMPT, &[])).await.status().code(), Code::Ok);
    assert_eq!(soon(known.call(PROMPT, &[])).await.status().code(), Code::Ok, "it has shown who it is");
}

#[tokio::test]
async fn an_old_connection_is_sent_away_and_its_call_finishes() {
    let mut server = Server::start(aged(Duration::from_millis(500), Duration::from_mins(1)));
    let mut client = Client::connect(server.address).await;
    let watch = client.start(WATCH, &[]).await;
    let call = client.start(SLOW, &[]).await;
    assert_eq!(server.event().await, Event::Began);
    // The watch ends at the same time as GOAWAY is said.
    let watch = soon(answer(watch)).await.unwrap();
    assert_eq!(watch.refusal(), (Code::Unavailable, "DRAINING".to_owned()));
    server.release.add_permits(1);
    assert_eq!(soon(answer(call)).await.unwrap().status().code(), Code::Ok);
    assert!(soon(client.is_sent_away()).await);
}

#[tokio::test]
async fn an_old_connection_is_dropped_when_its_grace_has_passed() {
    let mut server = Server::start(aged(Duration::from_millis(300), Duration::from_millis(50)));
    let client = Client::connect(server.address).await;
    let call = client.start(SILENT, &[]).await;
    assert_eq!(server.event().await, Event::Began);
    soon(answer(call)).await.unwrap_err();
    assert_eq!(server.event().await, Event::Dropped);
}

#[tokio::test]
async fn a_peer_that_answers_no_ping_is_closed() {
    let limits = ServerBounds {
        keepalive_interval: Duration::from_millis(50),
        keepalive_timeout: Duration::from_millis(50),
        ..ServerBounds::default()
    };
    let server = Server::start(limited(limits));
    let mut stream = tcp(server.address).await;
    stream.write_all(PREFACE_AND_SETTINGS).await.unwrap();
    assert!(!to_end(&mut stream).await.is_empty());
}

fn aged(max: Duration, grace: Duration) -> Config {
    Config { age: Age { max, jitter: 0.1, grace }, ..Config::default() }
}

/// All that comes until the server closes. A reset is an error.
async fn to_end(stream: &mut TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    soon(stream.read_to_end(&mut bytes)).await.expect("closed, not reset");
    bytes
}
