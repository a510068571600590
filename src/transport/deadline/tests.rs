//! The layer under paused time.

use std::{
    future::{pending, ready},
    sync::atomic::{AtomicBool, Ordering},
};

use bytes::Bytes;
use futures_util::stream;
use http::StatusCode;
use http_body::Frame;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::rt::Executor as _;
use tokio_util::task::TaskTracker;
use tonic::Code;
use tower::{Layer as _, Service as _, service_fn};

use super::*;
use crate::stream::Executor;
use toolwire_base::middleware::Layer;

type Frames = Vec<Result<Frame<Bytes>, Infallible>>;

const CAP: Duration = Duration::from_secs(10);

#[tokio::test(start_paused = true)]
async fn a_call_that_never_answers_ends_at_its_time_out() {
    let start = clock::now();
    let never = service_fn(|_: Request<()>| pending::<Result<Response<tonic::body::Body>, Infallible>>());
    let response =
        Layer(EnforceDeadline::new(CAP)).layer(never).call(request(Some(3), Lifetime::Capped)).await.unwrap();
    assert_eq!(refusal::code_in(response.headers()), Some(Code::DeadlineExceeded));
    assert_eq!(start.elapsed(), Duration::from_secs(3));
}

#[tokio::test(start_paused = true)]
async fn the_cap_bounds_a_call_without_a_time_out() {
    let start = clock::now();
    assert_eq!(end_of_silence(request(None, Lifetime::Capped)).await, Some(Code::DeadlineExceeded));
    assert_eq!(start.elapsed(), CAP);
}

#[tokio::test(start_paused = true)]
async fn a_watch_has_its_callers_time_out_but_no_cap() {
    let start = clock::now();
    assert_eq!(end_of_silence(request(Some(100), Lifetime::Uncapped)).await, Some(Code::DeadlineExceeded));
    assert_eq!(start.elapsed(), Duration::from_secs(100));
    let forever = end_of_silence(request(None, Lifetime::Uncapped));
    assert!(tokio::time::timeout(Duration::from_secs(100_000), forever).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_producer_that_is_always_ready_ends_too() {
    let flood = service_fn(|_: Request<()>| {
        let frames = stream::repeat_with(|| Ok::<_, Infallible>(Frame::data(Bytes::from_static(b"x"))));
        ready(Ok(Response::new(StreamBody::new(frames))))
    });
    let mut body = Layer(EnforceDeadline::new(CAP))
        .layer(flood)
        .call(request(Some(1), Lifetime::Capped))
        .await
        .unwrap()
        .into_body();
    assert!(body.frame().await.unwrap().unwrap().is_data());
    tokio::time::advance(Duration::from_secs(1)).await;
    let trailers = body.frame().await.unwrap().unwrap().into_trailers().unwrap();
    assert_eq!(refusal::code_in(&trailers), Some(Code::DeadlineExceeded));
    assert!(body.frame().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_call_that_comes_too_late_does_no_work() {
    let called = AtomicBool::new(false);
    let working = service_fn(|_: Request<()>| {
        called.store(true, Ordering::Relaxed);
        ready(Ok::<_, Infallible>(Response::new(tonic::body::Body::empty())))
    });
    let response = Layer(EnforceDeadline::new(CAP))
        .layer(working)
        .call(request(Some(0), Lifetime::Capped))
        .await
        .unwrap();
    assert_eq!(refusal::code_in(response.headers()), Some(Code::DeadlineExceeded));
    assert!(!called.load(Ordering::Relaxed), "the service was called");
}

#[tokio::test(start_paused = true)]
async fn what_ends_in_time_is_left_alone() {
    let prompt = service_fn(|_: Request<()>| {
        let frames: Frames = vec![Ok(Frame::data(Bytes::from_static(b"x")))];
        ready(Ok::<_, Infallible>(Response::new(StreamBody::new(stream::iter(frames)))))
    });
    let response = Layer(EnforceDeadline::new(CAP))
        .layer(prompt)
        .call(request(Some(1), Lifetime::Capped))
        .await
        .unwrap();
    assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), "x");
}

#[tokio::test(start_paused = true)]
async fn what_has_said_all_may_end_as_it_was_going_to() {
    let complete = service_fn(|_: Request<()>| {
        let frames: Frames = vec![
            Ok(Frame::data(Bytes::from_static(b"x"))),
            Ok(Frame::trailers(
                [("grpc-status".parse().unwrap(), "0".parse().unwrap())].into_iter().collect(),
            )),
        ];
        ready(Ok::<_, Infallible>(Response::new(StreamBody::new(stream::iter(frames)))))
    });
    let mut body = Layer(EnforceDeadline::new(CAP))
        .layer(complete)
        .call(request(Some(1), Lifetime::Capped))
        .await
        .unwrap()
        .into_body();
    assert!(body.frame().await.unwrap().unwrap().is_data());
    tokio::time::advance(Duration::from_secs(2)).await;
    let trailers = body.frame().await.unwrap().unwrap().into_trailers().unwrap();
    assert_eq!(refusal::code_in(&trailers), Some(Code::Ok));
}

/// The result of a response with this status that takes two seconds, with a deadline of one.
async fn end_of_a_late_one(status: StatusCode) -> Response<Body<Full<Bytes>>> {
    let late = service_fn(move |_: Request<()>| async move {
        // Blocks, as work does that does not yield.
        tokio::time::advance(Duration::from_secs(2)).await;
        let mut response = Response::new(Full::from("said"));
        *response.status_mut() = status;
        Ok::<_, Infallible>(response)
    });
    Layer(EnforceDeadline::new(CAP)).layer(late).call(request(Some(1), Lifetime::Capped)).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn what_is_late_is_told_so_and_what_failed_says_why() {
    let response = end_of_a_late_one(StatusCode::OK).await;
    assert_eq!(refusal::code_in(response.headers()), Some(Code::DeadlineExceeded));
    let response = end_of_a_late_one(StatusCode::GATEWAY_TIMEOUT).await;
    assert_eq!(refusal::code_in(response.headers()), None);
    assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), "said");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_complete_is_not_broken_off() {
    let complete =
        service_fn(|_: Request<()>| ready(Ok::<_, Infallible>(Response::new(Full::<Bytes>::from("x")))));
    let response = Layer(EnforceDeadline::new(CAP))
        .layer(complete)
        .call(request(Some(1), Lifetime::Capped))
        .await
        .unwrap();
    tokio::time::advance(Duration::from_secs(2)).await;
    assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), "x");
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_does_not_take_a_complete_answer_is_ended_all_the_same() {
    for (lifetime, expected) in [(Lifetime::Capped, 1), (Lifetime::Transfer, 30)] {
        let executor = Executor { streams: TaskTracker::new() };
        let start = clock::now();
        executor.execute(async move {
            let complete = service_fn(|_: Request<()>| {
                ready(Ok::<_, Infallible>(Response::new(Full::<Bytes>::from("x"))))
            });
            let timeout = (lifetime == Lifetime::Capped).then_some(1);
            let mut body = Layer(EnforceDeadline::new(CAP))
                .layer(complete)
                .call(request(timeout, lifetime))
                .await
                .unwrap()
                .into_body();
            body.frame().await.unwrap().unwrap();
            pending::<()>().await;
        });
        executor.streams.close();
        tokio::time::timeout(Duration::from_hours(1), executor.streams.wait()).await.unwrap();
        assert_eq!(start.elapsed().as_secs(), expected, "{lifetime:?}");
    }
}

/// The code in the trailers of a stream without data.
async fn end_of_silence(request: Request<()>) -> Option<Code> {
    let silent = service_fn(|_: Request<()>| {
        let frames = stream::pending::<Result<Frame<Bytes>, Infallible>>();
        ready(Ok(Response::new(StreamBody::new(frames))))
    });
    let mut body = Layer(EnforceDeadline::new(CAP)).layer(silent).call(request).await.unwrap().into_body();
    let trailers = body.frame().await.unwrap().unwrap().into_trailers().unwrap();
    refusal::code_in(&trailers)
}

fn request(timeout: Option<u64>, lifetime: Lifetime) -> Request<()> {
    let mut request = Request::new(());
    let timeout = timeout.map(Duration::from_secs);
    let wall = std::time::SystemTime::UNIX_EPOCH;
    request.extensions_mut().insert(Arrival { at: clock::now(), wall, timeout, peer: None, face: "grpc" });
    request.extensions_mut().insert(Rule { lifetime, ..Rule::USER });
    request
}

#[tokio::test(start_paused = true)]
async fn a_watch_ends_when_its_reader_takes_nothing_and_not_when_it_has_taken_everything() {
    const WITHIN: Duration = Duration::from_secs(30);
    let executor = Executor { streams: TaskTracker::new() };
    let start = clock::now();
    executor.execute(async {
        let rare = service_fn(|_: Request<()>| {
            let pieces = stream::unfold((), async |()| {
                tokio::time::sleep(WITHIN * 10).await;
                Some((Ok::<_, Infallible>(Frame::data(Bytes::new())), ()))
            });
            ready(Ok::<_, Infallible>(Response::new(StreamBody::new(Box::pin(pieces)))))
        });
        let layer = Layer(EnforceDeadline::new(CAP).with_watch_stall(WITHIN));
        let mut body = layer.layer(rare).call(request(None, Lifetime::Uncapped)).await.unwrap().into_body();
        for _ in 0..3 {
            body.frame().await.unwrap().unwrap();
        }
        // The reader stalls.
        pending::<()>().await;
    });
    executor.streams.close();
    tokio::time::timeout(Duration::from_hours(10), executor.streams.wait()).await.unwrap();
    assert_eq!(start.elapsed().as_secs(), (WITHIN * 10 * 3 + WITHIN).as_secs());
}

#[tokio::test(start_paused = true)]
async fn a_file_whose_reader_takes_nothing_for_30_s_ends() {
    let executor = Executor { streams: TaskTracker::new() };
    let start = clock::now();
    executor.execute(async {
        let endless = service_fn(|_: Request<()>| {
            let pieces = stream::repeat_with(|| Ok::<_, Infallible>(Frame::data(Bytes::new())));
            ready(Ok::<_, Infallible>(Response::new(StreamBody::new(pieces))))
        });
        let response = Layer(EnforceDeadline::new(CAP))
            .layer(endless)
            .call(request(None, Lifetime::Transfer))
            .await
            .unwrap();
        let mut body = response.into_body();
        for _ in 0..20 {
            body.frame().await.unwrap().unwrap();
            tokio::time::sleep(Duration::from_secs(20)).await;
        }
        // No cap applies; the reader stalls.
        pending::<()>().await;
    });
    executor.streams.close();
    tokio::time::timeout(Duration::from_hours(1), executor.streams.wait()).await.unwrap();
    assert_eq!(start.elapsed().as_secs(), 19 * 20 + 30);
}
