//! The way out: in order, without losing a call, and by force in the end.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    sync::Barrier,
};
use tonic::Code;
use toolwire::{config::Drain, transport::Config};

use super::{
    client::{Client, answer, soon, tcp},
    connections::PREFACE_AND_SETTINGS,
    server::{CHECK, Event, PROMPT, SILENT, SLOW, Server, WATCH},
};

const LONG: Duration = Duration::from_mins(1);

#[tokio::test]
async fn calls_in_flight_finish_and_calls_in_the_lame_duck_time_are_served() {
    let mut server = Server::start(draining(Duration::from_secs(1), LONG));
    let address = server.address;
    let mut client = Client::connect(address).await;
    let call = client.start(SLOW, &[]).await;
    assert_eq!(server.event().await, Event::Began);

    let mut server = server.drain().await;
    // On the old connection, and on one that is new.
    assert_eq!(client.call(PROMPT, &[]).await.status().code(), Code::Ok);
    let mut newcomer = Client::connect(address).await;
    assert_eq!(soon(newcomer.call(PROMPT, &[])).await.status().code(), Code::Ok);
    assert_eq!(health(&newcomer).await, NOT_SERVING);

    // The idle connection is sent away; the busy one when its call is done.
    assert!(soon(newcomer.is_sent_away()).await);
    server.release.add_permits(1);
    assert_eq!(soon(answer(call)).await.unwrap().status().code(), Code::Ok);
    assert!(soon(client.is_sent_away()).await);
    let report = server.end().await;
    assert_eq!((report.connections, report.streams_cut), (1, 0));
    assert!(tokio::net::TcpStream::connect(address).await.is_err(), "the listener is still open");
}

#[tokio::test]
async fn a_watch_hears_of_the_drain_and_does_not_hold_it() {
    let server = Server::start(draining(Duration::from_millis(100), LONG));
    let mut client = Client::connect(server.address).await;
    let mut watch = soon(client.start(WATCH, &[]).await).await.unwrap().into_body();
    assert_eq!(soon(watch.data()).await.unwrap().unwrap()[5..], [8, 1]);

    let mut server = server.drain().await;
    assert_eq!(soon(watch.data()).await.unwrap().unwrap()[5..], NOT_SERVING);
    assert!(soon(watch.data()).await.is_none());
    let trailers = soon(watch.trailers()).await.unwrap().unwrap();
    assert_eq!(trailers["grpc-status"], "14");
    drop(watch);
    assert!(soon(client.is_sent_away()).await);
    assert_eq!(server.end().await.streams_cut, 0);
}

#[tokio::test]
async fn what_does_not_leave_is_dropped_at_the_forced_end() {
    let mut server = Server::start(draining(Duration::from_millis(20), Duration::from_secs(1)));
    let client = Client::connect(server.address).await;
    let watch = client.start(WATCH, &[]).await;
    let held = client.start(SILENT, &[]).await;
    assert_eq!(server.event().await, Event::Began);
    let mut silent = tcp(server.address).await;
    let mut deaf = deaf_peer(server.address).await;
    // Accepted in this order, so that all of the above are connections by now.
    assert_eq!(health(&Client::connect(server.address).await).await, [8, 1]);

    let mut server = server.drain().await;
    let report = server.end().await;
    assert_eq!(report.streams_cut, 1, "only the held stream: the watch has ended by itself");
    assert!(report.connections >= 3, "{report:?}");
    // Already: the server does not return before its streams are gone.
    assert_eq!(server.events.try_recv(), Ok(Event::Forced));
    assert_eq!(server.events.try_recv(), Ok(Event::Dropped));
    soon(answer(held)).await.unwrap_err();
    assert_eq!(soon(answer(watch)).await.unwrap().status().code(), Code::Unavailable);
    for stream in [&mut silent, &mut deaf] {
        let mut rest = Vec::new();
        // Closed, in whatever way.
        let _ = soon(stream.read_to_end(&mut rest)).await;
    }
}

#[tokio::test]
async fn connections_in_the_accept_queue_are_served() {
    let server = Server::start(draining(Duration::ZERO, LONG));
    // Blocking, on the one thread there is: the kernel accepts them, the server cannot yet.
    let queued: Vec<_> = (0..5).map(|_| std::net::TcpStream::connect(server.address).unwrap()).collect();
    let mut server = server.drain().await;
    for stream in queued {
        stream.set_nonblocking(true).unwrap();
        let mut client = Client::over(tokio::net::TcpStream::from_std(stream).unwrap()).await;
        assert_eq!(soon(client.call(PROMPT, &[])).await.status().code(), Code::Ok);
        assert!(soon(client.is_sent_away()).await);
    }
    assert_eq!(server.end().await.streams_cut, 0);
}

#[tokio::test]
async fn a_steady_load_loses_no_call() {
    const CONNECTIONS: usize = 20;
    let server = Server::start(draining(Duration::from_millis(500), LONG));
    let is_steady = Arc::new(Barrier::new(CONNECTIONS + 1));
    let loads = (0..CONNECTIONS).map(|_| tokio::spawn(load(server.address, is_steady.clone())));
    let loads: Vec<_> = loads.collect();
    soon(is_steady.wait()).await;
    let mut server = server.drain().await;
    for load in loads {
        soon(load).await.unwrap();
    }
    assert_eq!(server.end().await.streams_cut, 0);
}

/// Calls until the server says GOAWAY. Every call that the server took must be answered.
async fn load(address: SocketAddr, is_steady: Arc<Barrier>) {
    let client = Client::connect(address).await;
    assert_eq!(client.call(PROMPT, &[]).await.status().code(), Code::Ok);
    is_steady.wait().await;
    while let Some(call) = client.try_start(PROMPT).await {
        match answer(call).await {
            Ok(answer) => assert_eq!(answer.status().code(), Code::Ok),
            // Begun while GOAWAY was on its way, which declares it untouched: a client repeats it elsewhere.
            Err(error) => {
                assert!(error.is_go_away() && error.reason() == Some(h2::Reason::NO_ERROR), "{error:?}");
                return;
            }
        }
    }
}

/// Speaks the preface and its settings, and then neither reads nor acknowledges anything.
async fn deaf_peer(address: SocketAddr) -> tokio::net::TcpStream {
    let mut stream = tcp(address).await;
    stream.write_all(PREFACE_AND_SETTINGS).await.unwrap();
    stream
}

const NOT_SERVING: [u8; 2] = [8, 2];

/// The encoded answer to a health check, without its frame.
async fn health(client: &Client) -> Vec<u8> {
    soon(client.call(CHECK, &[])).await.body[5..].to_vec()
}

fn draining(lame_duck: Duration, forced_end: Duration) -> Config {
    Config { drain: Drain { lame_duck, forced_end }, ..Config::default() }
}
