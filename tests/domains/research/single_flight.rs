//! One execution for equal calls, all the way to the source's connection.

use std::{io, time::Duration};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
    time::timeout,
};
use toolwire::{
    base::clock,
    contract::{ErrorCode, ToolResult},
};
use wiremock::{Mock, MockServer, ResponseTemplate, matchers::any};

use super::support::{Research, data};

/// A source that answers when it is told to.
struct Upstream(TcpListener);

impl Upstream {
    async fn start() -> (Self, Research) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("bound");
        (Self(listener), Research::against_slow_yahoo(&format!("http://{address}")))
    }

    /// The next connection, with its whole request read.
    async fn request(&self) -> TcpStream {
        let (mut stream, _) = self.0.accept().await.expect("a connection");
        let mut seen = Vec::new();
        while !seen.ends_with(b"\r\n\r\n") {
            assert_ne!(stream.read_buf(&mut seen).await.expect("readable"), 0);
        }
        stream
    }
}

async fn answer(stream: &mut TcpStream) {
    try_answer(stream).await.expect("written");
}

async fn try_answer(stream: &mut TcpStream) -> io::Result<()> {
    let body = include_str!("../../../data/research/yahoo/chart/RELIANCE.NS.json");
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await
}

fn technicals(research: &Research) -> JoinHandle<ToolResult> {
    let research = research.clone();
    tokio::spawn(async move { research.call("get_technicals", json!({"symbol": "RELIANCE"})).await })
}

/// Waits until so many calls are under way.
async fn until_in_flight(research: &Research, calls: usize) {
    while research.app.tools.in_flight().len() != calls {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_thousand_equal_calls_make_one_request() {
    let (upstream, research) = Upstream::start().await;
    let calls: Vec<_> = (0..1_000).map(|_| technicals(&research)).collect();
    let mut stream = upstream.request().await;
    until_in_flight(&research, 1_000).await;
    answer(&mut stream).await;
    let mut prices: Vec<Value> = Vec::new();
    for call in calls {
        prices.push(data(call.await.expect("not panicked"))["current_price"].clone());
    }
    assert!(prices.len() == 1_000 && prices.iter().all(|price| price.is_number() && *price == prices[0]));
    drop(stream);
    let another = timeout(Duration::from_millis(50), upstream.0.accept()).await;
    assert!(another.is_err(), "there was a second request");
}

#[tokio::test]
async fn cancelling_one_of_two_leaves_the_other_its_answer() {
    let (upstream, research) = Upstream::start().await;
    let first = technicals(&research);
    let mut stream = upstream.request().await;
    let second = technicals(&research);
    until_in_flight(&research, 2).await;
    first.abort();
    until_in_flight(&research, 1).await;
    // The second call looks into the cache before it waits with the first: one that was late asks for itself.
    let late = async {
        loop {
            answer(&mut upstream.request().await).await;
        }
    };
    let shared = async {
        let _ = try_answer(&mut stream).await;
        second.await.expect("not panicked")
    };
    tokio::select! {
        () = late => unreachable!("it answers for as long as somebody asks"),
        result = shared => assert_eq!(data(result)["symbol"], "RELIANCE"),
    }
}

#[tokio::test]
async fn cancelling_the_last_closes_the_upstream_connection() {
    let (upstream, research) = Upstream::start().await;
    let first = technicals(&research);
    let mut stream = upstream.request().await;
    let second = technicals(&research);
    until_in_flight(&research, 2).await;
    first.abort();
    second.abort();
    let left = clock::now();
    // The end of the stream, rather than a time-out of this test.
    let mut rest = Vec::new();
    let end = timeout(Duration::from_secs(5), stream.read_to_end(&mut rest)).await;
    println!("the upstream connection closed {:?} after the last caller left", clock::now() - left);
    assert!(matches!(end, Ok(Ok(0) | Err(_))), "{end:?}");
}

#[tokio::test]
async fn a_429_holds_everybody_off_for_as_long_as_it_says() {
    let server = MockServer::start().await;
    let busy = ResponseTemplate::new(429).insert_header("retry-after", "3600");
    Mock::given(any()).respond_with(busy).mount(&server).await;
    let research = Research::against("yahoo", &server.uri());
    let technicals = async |user, symbol| {
        let result = research.call_as(user, "get_technicals", json!({"symbol": symbol})).await;
        result.outcome.expect_err("limited")
    };
    assert_eq!(technicals("asha", "RELIANCE").await.attempts, 1);
    let held = technicals("ravi", "TCS").await;
    assert_eq!((held.code, held.attempts), (ErrorCode::RateLimited, 0));
    assert!(held.retry_after.is_some_and(|wait| wait > Duration::from_mins(59)), "{held:?}");
    assert_eq!(server.received_requests().await.expect("recorded").len(), 1);
}
