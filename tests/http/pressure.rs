//! What clients may do to the listener without any harm to others: connections that say nothing, headers and readers
//! that do not get on, streams by the hundred. Meanwhile others call, and none of their calls fails.

use std::{net::SocketAddr, time::Duration};

use bytes::Bytes;
use futures_util::future::join_all;
use tokio::net::{TcpSocket, TcpStream};
use toolwire::config::Config;

use crate::{
    http::{
        raw::{Raw, ask},
        toys::{CALL, COUNT, FLOOD, READY, Toys, WATCH},
    },
    support::server::config_with_http,
};

const JSON: &str = "content-type: application/json";
/// What would hang fails after so long.
const SOON: Duration = Duration::from_secs(20);
/// A bound that a test waits for.
const SHORT: Duration = Duration::from_millis(300);
/// One that none reaches.
const LONG: Duration = Duration::from_mins(10);

/// A server on which headers, idle connections and readers have these times.
fn toys(change: impl FnOnce(&mut Config)) -> Toys {
    let mut config = config_with_http();
    config.http.header_timeout = LONG;
    config.http.idle_timeout = LONG;
    config.http.stall_timeout = LONG;
    change(&mut config);
    Toys::with(config)
}

/// A connection of another machine: all of 127.0.0.0/8 is this one.
async fn from_elsewhere(address: SocketAddr) -> Option<Raw> {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.2:0".parse().unwrap()).unwrap();
    Some(Raw::of(socket.connect(address).await.ok()?))
}

/// So many calls of others, each on a connection of its own. None fails.
async fn others(address: SocketAddr, calls: usize) {
    for _ in 0..calls {
        let answer = ask(address, "POST", COUNT, &[JSON], "{}").await;
        assert_eq!((answer.status, answer.body.as_str()), (200, "2"));
    }
}

#[tokio::test]
async fn two_thousand_connections_that_say_nothing_shut_nobody_out() {
    let toys = toys(|config| config.server.limits.preface_timeout = LONG);
    let mut silent = Vec::new();
    for number in 0..2_000 {
        silent.extend(from_elsewhere(toys.http).await);
        if number % 100 == 0 {
            others(toys.http, 1).await;
        }
    }
    others(toys.http, 100).await;
    let share = 750;
    let closed = silent.iter_mut().map(Raw::is_closed).filter(|is_closed| *is_closed).count();
    println!(
        "{} connections of one address: {closed} were closed at once, {} stay",
        silent.len(),
        silent.len() - closed
    );
    assert!(closed >= silent.len() - share && silent.len() >= share, "{closed} of {}", silent.len());
}

#[tokio::test]
async fn connections_that_say_nothing_do_not_shut_out_others_behind_their_address() {
    let toys = toys(|config| config.server.limits.preface_timeout = LONG);
    let mut silent = Vec::new();
    for number in 0..1_100 {
        let raw = from_elsewhere(toys.http).await;
        if let Some(mut raw) = raw {
            // Nothing, half a request over HTTP/1, HTTP/2 without a request.
            raw.say(["", "GET / HTTP/1.1\r\nhost:", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"][number % 3]).await;
            silent.push(raw);
        }
    }
    for _ in 0..100 {
        let mut raw = from_elsewhere(toys.http).await.expect("it is taken");
        raw.ask("POST", COUNT, &[JSON], "{}").await;
        let answer = raw.answer().await;
        assert_eq!((answer.status, answer.body.as_str()), (200, "2"));
    }
}

#[tokio::test]
async fn a_connection_on_which_nothing_is_asked_is_closed_and_one_with_a_request_stays() {
    let toys = toys(|config| config.http.idle_timeout = SHORT);
    let mut watching = Raw::connect(toys.http).await;
    watching.ask("GET", WATCH, &[], "").await;
    watching.until("event: first").await;
    let mut idle = Raw::connect(toys.http).await;
    idle.ask("GET", READY, &[], "").await;
    assert_eq!(idle.answer().await.status, 200);
    let (sender, connection) =
        h2::client::handshake(TcpStream::connect(toys.http).await.unwrap()).await.unwrap();
    assert_eq!(idle.rest().await, "");
    // Over HTTP/2 it is told to go.
    tokio::time::timeout(SOON, connection).await.expect("it is closed").unwrap();
    drop(sender);
    others(toys.http, 10).await;
    assert!(!watching.is_closed(), "its request is under way");
}

#[tokio::test]
async fn headers_that_do_not_get_on_are_given_up_however_often_a_byte_comes() {
    let toys = toys(|config| config.http.header_timeout = SHORT);
    let mut slow = Vec::new();
    for _ in 0..100 {
        let mut raw = Raw::connect(toys.http).await;
        raw.say(format!("GET {READY} HTTP/1.1\r\nhost: localhost\r\nx: ")).await;
        slow.push(raw);
    }
    let given_up = async {
        // Whoever says more than is listened to is told by its own socket.
        while !slow.iter_mut().all(|raw| raw.is_closed() || raw.stream.try_write(b"x").is_err()) {
            tokio::task::yield_now().await;
        }
    };
    let (given_up, ()) = tokio::join!(tokio::time::timeout(SOON, given_up), others(toys.http, 50));
    given_up.expect("all are closed");
}

#[tokio::test]
async fn too_many_headers_over_http2_are_refused_alone() {
    let toys = toys(|_| ());
    let (mut sender, connection) =
        h2::client::handshake(TcpStream::connect(toys.http).await.unwrap()).await.unwrap();
    tokio::spawn(connection);
    let mut status = async |headers: usize| {
        let mut request = http::Request::get(format!("http://localhost{READY}"));
        for number in 0..headers {
            request = request.header(format!("x-{number}"), "y".repeat(100));
        }
        sender = sender.clone().ready().await.unwrap();
        let (answer, _) = sender.send_request(request.body(()).unwrap(), true).unwrap();
        answer.await.map(|answer| answer.status().as_u16())
    };
    assert_eq!(status(50).await.unwrap(), 200);
    assert_eq!(status(200).await.unwrap(), 431);
    assert_eq!(status(50).await.unwrap(), 200);
}

#[tokio::test]
async fn a_hundred_streams_of_one_connection_are_answered_and_no_more_at_once() {
    let toys = toys(|_| ());
    let (sender, mut connection) =
        h2::client::handshake(TcpStream::connect(toys.http).await.unwrap()).await.unwrap();
    let mut pings = connection.ping_pong().unwrap();
    tokio::spawn(connection);
    // What the server allows is known once it has answered.
    pings.ping(h2::Ping::opaque()).await.unwrap();
    assert_eq!(sender.current_max_send_streams(), 100);
    let one = async || {
        let request = http::Request::post(format!("http://localhost{CALL}/debug_sleep"))
            .header("content-type", "application/json");
        let mut sender = sender.clone().ready().await.unwrap();
        let (answer, mut body) = sender.send_request(request.body(()).unwrap(), false).unwrap();
        body.send_data(Bytes::from_static(br#"{"duration": "0.3s"}"#), true).unwrap();
        answer.await.unwrap().status().as_u16()
    };
    let (statuses, ()) = tokio::join!(join_all((0..250).map(|_| one())), others(toys.http, 50));
    assert_eq!(statuses, [200; 250]);
}

/// A watch without an end and without a time-out, whose reader takes nothing more.
#[tokio::test]
async fn a_watch_whose_reader_stalls_ends_and_one_that_is_silent_goes_on() {
    let toys = toys(|config| {
        config.http.stall_timeout = SHORT;
        config.server.limits.max_watches_per_user = 3;
    });
    let mut silent = Raw::connect(toys.http).await;
    silent.ask("GET", WATCH, &[], "").await;
    silent.until("event: first").await;
    let mut stalled = Raw::connect(toys.http).await;
    stalled.ask("GET", FLOOD, &[], "").await;
    assert_eq!(stalled.head().await.status, 200);
    let (mut sender, connection) =
        h2::client::handshake(TcpStream::connect(toys.http).await.unwrap()).await.unwrap();
    tokio::spawn(connection);
    let request = http::Request::get(format!("http://localhost{FLOOD}")).body(()).unwrap();
    let (answer, _) = sender.send_request(request, true).unwrap();
    let mut unread = answer.await.unwrap().into_body();
    // Both places come free.
    let (mut shed, mut open) = (0, Vec::new());
    let freed = async {
        while open.len() < 2 {
            let mut raw = Raw::connect(toys.http).await;
            raw.ask("GET", WATCH, &[], "").await;
            match raw.head().await.status {
                200 => open.push(raw),
                status => assert_eq!(status, 429),
            }
            shed += 1;
        }
    };
    let (freed, ()) = tokio::join!(tokio::time::timeout(SOON, freed), others(toys.http, 50));
    freed.expect("their places come free");
    println!("{shed} watches were refused while two readers stalled");
    assert!(!silent.is_closed(), "it has read all there is");
    // Over HTTP/2 the stream is reset, over HTTP/1 the connection is closed.
    let end = loop {
        match unread.data().await {
            Some(Ok(data)) => drop(unread.flow_control().release_capacity(data.len())),
            end => break end,
        }
    };
    assert!(end.is_some_and(|end| end.is_err_and(|error| error.is_reset())));
    assert!(stalled.ends().await, "its connection is closed");
}
