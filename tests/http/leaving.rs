//! A caller who leaves: the work stops, whatever is spoken and whatever is waited for.

use std::{env, net::SocketAddr};

use bytes::Bytes;
use tokio::net::TcpStream;

use crate::{
    http::{
        raw::Raw,
        toys::{CALL, INVOKE, Toys},
    },
    support::stops::{Stop, Stops},
};

const JSON: &str = "content-type: application/json";
const BODY: &str = r#"{"duration": "60s"}"#;

/// How often each is tried.
fn rounds() -> usize {
    env::var("LEAVE_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(5)
}

/// Both versions, waiting for an answer and amid one.
#[tokio::test]
async fn who_leaves_stops_the_work() {
    let (stops, _guard) = Stops::of_this_thread();
    let toys = Toys::start();
    for _ in 0..rounds() {
        leave_http1(toys.http, &format!("{CALL}/debug_sleep"), false, &toys).await;
        leave_http1(toys.http, &format!("{INVOKE}/debug_sleep"), true, &toys).await;
        leave_http2(toys.http, &format!("{CALL}/debug_sleep"), false, &toys).await;
        leave_http2(toys.http, &format!("{INVOKE}/debug_sleep"), true, &toys).await;
    }
    let stopped = stops.take(rounds() * 4).await;
    assert_eq!(Stops::causes(&stopped).into_iter().collect::<Vec<_>>(), [("caller_gone", rounds() * 4)]);
    let ran = |quantile| Stops::quantile(&stopped, quantile, |stop: &Stop| stop.ran_ms);
    println!(
        "{} left; the work ran {:.1} ms in the median, {:.1} ms at most",
        stopped.len(),
        ran(0.5),
        ran(1.0)
    );
}

/// Waits until the server works on a call.
async fn is_under_way(toys: &Toys) {
    while toys.server.app.tools.in_flight().is_empty() {
        tokio::task::yield_now().await;
    }
}

async fn leave_http1(address: SocketAddr, path: &str, amid: bool, toys: &Toys) {
    let mut raw = Raw::connect(address).await;
    raw.ask("POST", path, &[JSON], BODY).await;
    if amid {
        raw.until("event: step").await;
    }
    is_under_way(toys).await;
    drop(raw);
    has_stopped(toys).await;
}

async fn leave_http2(address: SocketAddr, path: &str, amid: bool, toys: &Toys) {
    let socket = TcpStream::connect(address).await.unwrap();
    let (sender, connection) = h2::client::handshake(socket).await.unwrap();
    let connection = tokio::spawn(connection);
    let request =
        http::Request::post(format!("http://localhost{path}")).header("content-type", "application/json");
    let mut sender = sender.ready().await.unwrap();
    let (answer, mut body) = sender.send_request(request.body(()).unwrap(), false).unwrap();
    body.send_data(Bytes::from_static(BODY.as_bytes()), true).unwrap();
    if amid {
        let mut events = answer.await.unwrap().into_body();
        while !events.data().await.unwrap().unwrap().starts_with(b"event: step") {}
        is_under_way(toys).await;
        // The stream alone is reset.
        drop((events, body));
    } else {
        is_under_way(toys).await;
        drop((answer, body));
    }
    has_stopped(toys).await;
    connection.abort();
}

async fn has_stopped(toys: &Toys) {
    toys.server.app.tools.in_flight().wait_until_empty().await;
}
