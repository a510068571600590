//! One attempt against servers that do not behave.

use std::{future::pending, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::oneshot,
    time::{interval, timeout},
};

use super::{
    super::{
        ExpectedBody,
        testing::{PROFILE, context, request},
    },
    *,
};
use toolwire_outgoing::Egress;
use toolwire_tool::context::{StopCause, ToolContext};

const MINUTE: Duration = Duration::from_mins(1);

/// A server that reads one request and then does as instructed. Returns its address.
async fn server<F: Future<Output = ()> + std::marker::Send>(
    then: impl FnOnce(TcpStream) -> F + std::marker::Send + 'static,
) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") {
            request.push(stream.read_u8().await.unwrap());
        }
        then(stream).await;
    });
    format!("http://{address}/?token=s3cret")
}

async fn saying(bytes: impl Into<Vec<u8>>) -> String {
    let bytes = bytes.into();
    server(|mut stream| async move {
        // The reader may have hung up in disgust.
        let _ = stream.write_all(&bytes).await;
        let _ = stream.shutdown().await;
    })
    .await
}

fn get(url: &str) -> Outgoing {
    Outgoing::get(url.parse().unwrap(), ExpectedBody::Json)
}

async fn send(outgoing: Outgoing, context: &ToolContext) -> Result<Answer, Failure> {
    let end = Send::new(Sender::new(&Egress::default()).unwrap(), PROFILE)
        .attempt(request(outgoing, context))
        .await;
    assert!(!format!("{end:?}").contains("s3cret"), "{end:?}");
    end
}

async fn answered(bytes: impl Into<Vec<u8>>) -> Result<Answer, Failure> {
    send(get(&saying(bytes).await), &context(MINUTE)).await
}

async fn kind_of(bytes: impl Into<Vec<u8>>) -> FailureKind {
    answered(bytes).await.unwrap_err().kind
}

fn gzipped(body: &[u8], length: usize) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: {length}\r\n\r\n");
    [head.as_bytes(), body].concat()
}

/// A gzip stream of zeros by hand: stored blocks would not shrink, so one literal and a long run of matches.
fn bomb() -> Vec<u8> {
    // Fixed Huffman codes, least significant bit first.
    let mut bits: Vec<u8> = vec![1, 1, 0];
    let code = |value: u32, length: u32, out: &mut Vec<u8>| {
        out.extend((0..length).rev().map(|bit| u8::from(value >> bit & 1 == 1)));
    };
    code(0x30, 8, &mut bits);
    for _ in 0..40_000 {
        // Length 258, distance 1: ten MiB in all.
        code(0xc5, 8, &mut bits);
        code(0, 5, &mut bits);
    }
    code(0, 7, &mut bits);
    let deflated = bits.chunks(8).map(|byte| byte.iter().rev().fold(0, |all, bit| all << 1 | bit));
    let header = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    header.into_iter().chain(deflated).chain([0; 8]).collect()
}

#[tokio::test]
async fn a_body_that_drips_is_cut_by_the_bound_on_the_whole_attempt() {
    let url = server(|mut stream| async move {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n").await;
        let mut interval = interval(Duration::from_millis(10));
        while stream.write_all(b"x").await.is_ok() {
            interval.tick().await;
        }
    });
    let outgoing = get(&url.await).within(Duration::from_millis(100));
    assert_eq!(send(outgoing, &context(MINUTE)).await.unwrap_err().kind, FailureKind::TimedOut);
}

#[tokio::test]
async fn the_deadline_of_the_call_bounds_an_attempt_too() {
    let url = server(|stream| async move {
        let _open = stream;
        pending::<()>().await;
    });
    let failure = send(get(&url.await), &context(Duration::from_millis(50))).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::OutOfTime);
}

#[tokio::test]
async fn a_cancelled_call_closes_its_connection_at_once() {
    for head in ["", "HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nx"] {
        let (began, has_begun) = oneshot::channel();
        let (closed, is_closed) = oneshot::channel();
        let url = server(move |mut stream| async move {
            stream.write_all(head.as_bytes()).await.unwrap();
            began.send(()).unwrap();
            // Nothing more comes until the connection ends, one way or the other.
            let _ = stream.read_u8().await;
            closed.send(()).unwrap();
        });
        let context = context(MINUTE);
        let cancellation = context.cancellation.clone();
        tokio::spawn(async move {
            has_begun.await.unwrap();
            cancellation.cancel(StopCause::Cancelled);
        });
        let failure = send(get(&url.await), &context).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Cancelled);
        timeout(Duration::from_secs(5), is_closed).await.expect("the connection ends").unwrap();
    }
}

#[tokio::test]
async fn a_body_that_ends_too_early_is_a_broken_connection() {
    let kind = kind_of("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{}").await;
    assert_eq!(kind, FailureKind::Unreachable);
    let kind = kind_of("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{").await;
    assert_eq!(kind, FailureKind::Unreachable);
    assert_eq!(kind_of("").await, FailureKind::Unreachable);
}

#[tokio::test]
async fn a_body_that_is_longer_than_it_says_is_cut_where_it_says() {
    let answer = answered("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}{}{}").await.unwrap();
    assert_eq!(answer.body, "{}");
}

#[tokio::test]
async fn what_is_no_http_is_malformed() {
    assert_eq!(kind_of("SSH-2.0-OpenSSH_9.9\r\n\r\n").await, FailureKind::Malformed);
    assert_eq!(kind_of("HTTP/1.1 200 OK\r\nx: a\0b\r\n\r\n").await, FailureKind::Malformed);
    assert_eq!(kind_of("HTTP/1.1 200 OK\r\ncontent-length: two\r\n\r\n{}").await, FailureKind::Malformed);
    assert_eq!(
        kind_of("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}").await,
        FailureKind::Malformed
    );
}

#[tokio::test]
async fn null_bytes_in_a_body_are_bytes() {
    let answer = answered("HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\na\0b").await.unwrap();
    assert_eq!(answer.text(), "a\0b");
}

#[tokio::test]
async fn bodies_are_bounded_whether_their_length_is_stated_or_not() {
    let long = "x".repeat(PROFILE.max_body + 1);
    let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", long.len());
    assert_eq!(kind_of(answer).await, FailureKind::Malformed);
    assert_eq!(kind_of(format!("HTTP/1.1 200 OK\r\n\r\n{long}")).await, FailureKind::Malformed);
    let longest = &long[1..];
    assert_eq!(answered(format!("HTTP/1.1 200 OK\r\n\r\n{longest}")).await.unwrap().body.len(), 4096);
}

#[tokio::test]
async fn a_bomb_is_never_unpacked() {
    let bomb = bomb();
    let failure = answered(gzipped(&bomb, bomb.len())).await.unwrap_err();
    assert_eq!(
        (failure.kind, &*failure.detail),
        (FailureKind::Malformed, "an answer of more than 4096 bytes")
    );
}

#[tokio::test]
async fn what_cannot_be_unpacked_is_malformed_and_what_breaks_off_is_broken() {
    assert_eq!(kind_of(gzipped(b"no gzip at all", 14)).await, FailureKind::Malformed);
    let start = &bomb()[..20];
    assert_eq!(kind_of(gzipped(start, 1_000)).await, FailureKind::Unreachable);
}

#[tokio::test]
async fn headers_are_bounded() {
    let many = "x: y\r\n".repeat(200);
    assert_eq!(kind_of(format!("HTTP/1.1 200 OK\r\n{many}\r\n")).await, FailureKind::Malformed);
    let large = "y".repeat(MAX_HEADERS as usize);
    assert_eq!(kind_of(format!("HTTP/1.1 200 OK\r\nx: {large}\r\n\r\n")).await, FailureKind::Malformed);
    let huge = "y".repeat(1 << 20);
    assert_eq!(kind_of(format!("HTTP/1.1 200 OK\r\nx: {huge}\r\n\r\n")).await, FailureKind::Malformed);
}

#[tokio::test]
async fn statuses_mean_what_they_mean_everywhere() {
    for (status, kind) in [
        (400, FailureKind::Malformed),
        (401, FailureKind::AuthFailed),
        (403, FailureKind::Blocked),
        (404, FailureKind::NotFound),
        (408, FailureKind::TimedOut),
        (410, FailureKind::NotFound),
        (429, FailureKind::RateLimited),
        (451, FailureKind::Blocked),
        (500, FailureKind::Down),
        (503, FailureKind::Down),
    ] {
        let head =
            format!("HTTP/1.1 {status} X\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n");
        assert_eq!(kind_of(head).await, kind, "{status}");
    }
}

#[tokio::test]
async fn a_429_says_how_long_to_wait_in_seconds_or_until_when() {
    let asks = async |after: &str| {
        let head = format!("HTTP/1.1 429 X\r\nretry-after: {after}\r\ncontent-length: 0\r\n\r\n");
        answered(head).await.unwrap_err().retry_after
    };
    assert_eq!(asks("0").await, Some(Duration::ZERO));
    assert_eq!(asks("17").await, Some(Duration::from_secs(17)));
    for beyond in ["18446744073709551615", "18446744073709551616", "99999999999999999999"] {
        assert_eq!(asks(beyond).await, Some(Duration::from_hours(24)), "{beyond}");
    }
    assert_eq!(asks("Wed, 21 Oct 2015 07:28:00 GMT").await, Some(Duration::ZERO));
    assert_eq!(asks("Fri, 31 Dec 9999 23:59:59 GMT").await, Some(Duration::from_hours(24)));
    assert_eq!(asks("Sunday, 06-Nov-94 08:49:37 GMT").await, Some(Duration::ZERO));
    assert_eq!(asks("Sun Nov  6 08:49:37 1994").await, Some(Duration::ZERO));
    assert_eq!(asks("1.5").await, Some(Duration::from_millis(1_500)));
    assert_eq!(asks("99999999999999999999.5").await, Some(Duration::from_hours(24)));
    for nothing in ["soon", "-5", "1e3", ""] {
        assert_eq!(asks(nothing).await, None, "{nothing:?}");
    }
    let text = "HTTP/1.1 200 OK\r\ncontent-length: 23\r\n\r\nEdge: Too Many Requests";
    assert_eq!(kind_of(text).await, FailureKind::RateLimited);
}

#[tokio::test]
async fn a_503_says_how_long_to_wait_too() {
    for (after, wait) in [("17", 17), ("Fri, 31 Dec 9999 23:59:59 GMT", 24 * 60 * 60)] {
        let head = format!("HTTP/1.1 503 X\r\nretry-after: {after}\r\ncontent-length: 0\r\n\r\n");
        let failure = answered(head).await.unwrap_err();
        assert_eq!((failure.kind, failure.retry_after), (FailureKind::Down, Some(Duration::from_secs(wait))));
    }
}

#[tokio::test]
async fn a_closed_port_is_unreachable() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    drop(listener);
    assert_eq!(send(get(&url), &context(MINUTE)).await.unwrap_err().kind, FailureKind::Unreachable);
}
