//! Complete and incomplete requests, and the lifetimes of permits.

use std::{
    convert::Infallible,
    future::pending,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

use bytes::Bytes;
use futures_util::{FutureExt, StreamExt, stream};
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use tokio::{task::yield_now, time::timeout};
use tonic::Code;
use tonic_types::StatusExt;
use tower::{Layer as _, ServiceExt, service_fn};

use super::*;
use crate::{refusal::code_in, rules::Messages};
use toolwire_base::clock;
use toolwire_config::ServerBounds;

type Answer = Response<AdmittedBody<Body>>;

const ONE: &[u8] = &[0, 0, 0, 0, 2, 8, 1];

fn layer(limits: ServerBounds) -> Layer<Admit<Grpc>> {
    Admission::new(&Config { limits, ..Config::default() }).layer()
}

/// A request whose body has these pieces and then ends, or does not.
fn request(rule: Rule, user: &str, pieces: &[&'static [u8]], ends: bool) -> Request<Body> {
    let pieces: Vec<_> =
        pieces.iter().map(|it| Ok::<_, Status>(Frame::data(Bytes::from_static(it)))).collect();
    let rest = if ends { stream::empty().boxed() } else { stream::pending().boxed() };
    let mut request = Request::new(Body::new(StreamBody::new(stream::iter(pieces).chain(rest))));
    request.extensions_mut().insert(rule);
    if !user.is_empty() {
        request.extensions_mut().insert(User::new(user.parse().unwrap()));
    }
    request
}

fn whole(rule: Rule, user: &str) -> Request<Body> {
    request(rule, user, &[ONE], true)
}

/// A service that reads its request to the end.
async fn ask(layer: &Layer<Admit<Grpc>>, request: Request<Body>) -> Answer {
    let service = service_fn(async |request: Request<Body>| {
        let read = request.into_body().collect().await.map(http_body_util::Collected::to_bytes);
        Ok::<_, Infallible>(match read {
            Ok(bytes) => Response::builder().header("x-read", bytes.len()).body(Body::empty()).unwrap(),
            Err(status) => status.into_http(),
        })
    });
    layer.layer(service).oneshot(request).await.unwrap()
}

/// The code and reason of a refusal; `Ok` and an empty reason for a success.
fn refused(answer: &Answer) -> (Code, String) {
    Status::from_header_map(answer.headers())
        .map_or_else(passed, |status| (status.code(), status.get_details_error_info().unwrap().reason))
}

fn passed() -> (Code, String) {
    (Code::Ok, String::new())
}

fn refusal(code: Code, reason: &str) -> (Code, String) {
    (code, reason.to_owned())
}

#[tokio::test]
async fn one_user_has_a_share_and_the_others_have_theirs() {
    let layer =
        layer(ServerBounds { max_calls_per_user: 2, max_watches_per_user: 1, ..ServerBounds::default() });
    let _held = [ask(&layer, whole(Rule::USER, "a")).await, ask(&layer, whole(Rule::USER, "a")).await];
    let shed = ask(&layer, whole(Rule::USER, "a")).await;
    assert_eq!(refused(&shed), refusal(Code::ResourceExhausted, "SHARE_EXHAUSTED"));
    let status = Status::from_header_map(shed.headers()).unwrap();
    let violation = status.get_details_quota_failure().unwrap().violations.remove(0);
    assert_eq!(
        (violation.subject.as_str(), violation.description.as_str()),
        ("user:a", "at most 2 calls under way at once")
    );
    assert!(status.get_details_retry_info().is_some());
    assert_eq!(refused(&ask(&layer, whole(Rule::USER, "b")).await), passed());
    // Watches have another quota.
    let _watch = ask(&layer, whole(Rule::WATCH, "a")).await;
    assert_eq!(
        refused(&ask(&layer, whole(Rule::WATCH, "a")).await),
        refusal(Code::ResourceExhausted, "SHARE_EXHAUSTED")
    );
    assert_eq!(refused(&ask(&layer, whole(Rule::WATCH, "b")).await), passed());
}

#[tokio::test]
async fn one_user_has_so_many_uploads_and_goes_on_calling() {
    let layer =
        layer(ServerBounds { max_transfers: 3, max_transfers_per_user: 2, ..ServerBounds::default() });
    let _held =
        [ask(&layer, whole(Rule::TRANSFER, "a")).await, ask(&layer, whole(Rule::TRANSFER, "a")).await];
    let shed = ask(&layer, whole(Rule::TRANSFER, "a")).await;
    assert_eq!(refused(&shed), refusal(Code::ResourceExhausted, "SHARE_EXHAUSTED"));
    let status = Status::from_header_map(shed.headers()).unwrap();
    let said = "at most 2 uploads and downloads of documents at once";
    assert!(status.message().contains(said), "{}", status.message());
    assert_eq!(refused(&ask(&layer, whole(Rule::USER, "a")).await), passed());
    assert_eq!(refused(&ask(&layer, whole(Rule::TRANSFER, "b")).await), passed());
}

#[tokio::test]
async fn one_users_flood_waits_its_turn_behind_anothers_call() {
    let layer = layer(ServerBounds { calls_per_turn: 2, ..ServerBounds::default() });
    let begun = Arc::new(std::sync::Mutex::new(String::new()));
    let service = {
        let begun = Arc::clone(&begun);
        layer.layer(service_fn(move |request: Request<Body>| {
            let user = request.extensions().get::<User>().map(|user| user.id.as_str().to_owned());
            begun.lock().unwrap().push_str(&user.unwrap());
            std::future::ready(Ok::<_, Infallible>(Response::new(Body::empty())))
        }))
    };
    for rule in [Rule::USER, Rule::WATCH, Rule::TRANSFER] {
        let call = |user| tokio::spawn(service.clone().oneshot(whole(rule, user)));
        // From here on several users call, so calls are scheduled in rounds.
        call("b").await.unwrap().unwrap();
        let calls: Vec<_> = ["a", "a", "a", "a", "a", "b"].map(call).into();
        for call in calls {
            assert_eq!(refused(&call.await.unwrap().unwrap()), passed());
        }
        assert_eq!(std::mem::take(&mut *begun.lock().unwrap()), "baabaaa", "{rule:?}");
    }
}

#[tokio::test]
async fn a_call_holds_no_bytes_once_its_message_is_decoded() {
    const CALLS: usize = BYTES.each / STEP + 1;
    let layer = Admission::new(&Config::default()).layer::<Whole>();
    let started = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&started);
    let service = layer.layer(service_fn(move |_: Request<Body>| {
        count.fetch_add(1, Relaxed);
        pending::<Result<Response<Body>, Infallible>>()
    }));
    // A body of unknown length that is not complete at the first poll takes a permit of bytes.
    let chunked = || {
        let mut request = whole(Rule::USER, "a");
        let late = stream::once(async {
            yield_now().await;
            Ok::<_, Status>(Frame::data(Bytes::from_static(b"{}")))
        });
        *request.body_mut() = Body::new(StreamBody::new(late));
        request
    };
    let mut calls: Vec<_> = (0..CALLS).map(|_| Box::pin(service.clone().oneshot(chunked()))).collect();
    for call in &mut calls {
        for _ in 0..2 {
            assert!(call.as_mut().now_or_never().is_none(), "a call is shed");
        }
    }
    assert_eq!(started.load(Relaxed), CALLS);
}

#[tokio::test]
async fn what_counts_against_nothing_is_never_shed() {
    let layer = layer(ServerBounds { max_concurrent_calls: 0, ..ServerBounds::default() });
    let free = Rule { pool: Pool::Free, ..Rule::USER };
    for user in ["a", ""] {
        assert_eq!(refused(&ask(&layer, whole(free, user)).await), passed());
    }
}

#[tokio::test(start_paused = true)]
async fn half_requests_of_one_user_are_bounded_in_number_and_bytes() {
    let layer = layer(ServerBounds {
        max_unfinished_per_user: 20,
        max_request_bytes: 4 << 20,
        ..ServerBounds::default()
    });
    let begun: &[&[u8]] = &[&[0, 0, 0x3f, 0xff, 0xff]];
    let half = |user, pieces| {
        let mut half = Box::pin(ask(&layer, request(Rule::USER, user, pieces, false)));
        let end = half.as_mut().now_or_never();
        end.map_or(Ok(half), |answer| Err(refused(&answer)))
    };
    // Four of 4 MiB are 16.
    let _four: Vec<_> = (0..4).map(|_| half("a", begun).ok().unwrap()).collect();
    let exhausted = refusal(Code::ResourceExhausted, "SHARE_EXHAUSTED");
    assert_eq!(half("a", begun).err(), Some(exhausted.clone()));
    let _small: Vec<_> = (0..16).map(|_| half("a", &[]).ok().unwrap()).collect();
    assert_eq!(half("a", &[]).err(), Some(exhausted));
    assert!(half("b", begun).is_ok());
    assert_eq!(
        refused(&ask(&layer, whole(Rule::USER, "a")).await),
        passed(),
        "a whole request is none of them"
    );
}

#[tokio::test]
async fn a_request_of_one_message_has_exactly_one() {
    let layer = layer(ServerBounds::default());
    let pieces: [&[&'static [u8]]; 4] = [&[], &[ONE, ONE], &[&[0, 0, 0, 0, 9, 1]], &[ONE, &[0]]];
    for pieces in pieces {
        let answer = ask(&layer, request(Rule::USER, "a", pieces, true)).await;
        assert_eq!(refused(&answer), refusal(Code::InvalidArgument, "MALFORMED_REQUEST"), "{pieces:?}");
    }
    let drip: Vec<_> = ONE.chunks(1).collect();
    let answer = ask(&layer, request(Rule::USER, "a", &drip, true)).await;
    assert_eq!(answer.headers()["x-read"], "7");
    let stream = Rule { messages: Messages::Many, ..Rule::USER };
    assert_eq!(ask(&layer, request(stream, "a", &[ONE, ONE, ONE], true)).await.headers()["x-read"], "21");
    assert_eq!(ask(&layer, request(stream, "a", &[], true)).await.headers()["x-read"], "0");
}

#[tokio::test]
async fn a_message_that_states_too_great_a_length_is_refused_before_it_comes() {
    let layer = layer(ServerBounds { max_request_bytes: 1_000, ..ServerBounds::default() });
    let answer = ask(&layer, request(Rule::USER, "a", &[&[0, 0, 0, 3, 0xe9]], false)).await;
    assert_eq!(refused(&answer), refusal(Code::ResourceExhausted, "MESSAGE_TOO_LARGE"));
}

#[tokio::test(start_paused = true)]
async fn a_client_stream_brings_its_first_message_in_time_and_is_never_idle_for_long() {
    let layer = layer(ServerBounds::default());
    let stream = Rule { messages: Messages::Many, ..Rule::USER };
    let start = clock::now();
    let late = ask(&layer, request(stream, "a", &[&[0]], false)).await;
    assert_eq!(refused(&late), refusal(Code::DeadlineExceeded, "REQUEST_INCOMPLETE"));
    assert_eq!(start.elapsed(), Duration::from_secs(10));
    let idle = ask(&layer, request(stream, "a", &[ONE, ONE], false)).await;
    assert_eq!(refused(&idle), refusal(Code::DeadlineExceeded, "STREAM_IDLE"));
    assert_eq!(start.elapsed(), Duration::from_secs(40));
    let slot = Rule { messages: Messages::Many, ..Rule::SLOT };
    assert_eq!(ask(&layer, request(slot, "a", &[ONE, ONE], true)).await.headers()["x-read"], "14");
    let silent = ask(&layer, request(slot, "a", &[ONE, ONE], false));
    assert!(timeout(Duration::from_hours(1), silent).await.is_err(), "a slot is silent without calls");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_large_message_is_taken_in_beside_the_thread_that_carries_the_others() {
    let layer = layer(ServerBounds::default());
    let large = Bytes::from([vec![0, 0, 1, 0, 1], vec![0; 65_537]].concat());
    let mut request = whole(Rule::USER, "a");
    *request.body_mut() = Body::new(http_body_util::Full::new(large));
    // Blocks until another task of the only worker has run.
    let service = service_fn(async |_: Request<Body>| {
        let (sender, receiver) = std::sync::mpsc::channel();
        tokio::spawn(async move { sender.send(()).unwrap() });
        receiver.recv().unwrap();
        Ok::<_, Infallible>(Response::new(Body::empty()))
    });
    let answer = tokio::spawn(layer.layer(service).oneshot(request)).await.unwrap().unwrap();
    assert_eq!(code_in(answer.headers()), None);
}

#[tokio::test]
async fn a_request_and_its_answer_are_worked_on_on_behalf_of_its_user() {
    let layer = layer(ServerBounds::default());
    let service = service_fn(async |_: Request<Body>| {
        let body = stream::once(async { Ok::<_, Status>(Frame::data(offload::testing::user().into())) });
        let answer = Response::builder().header("x-user", offload::testing::user());
        Ok::<_, Infallible>(answer.body(Body::new(StreamBody::new(body))).unwrap())
    });
    for user in ["riley", ""] {
        let answer = layer.layer(service).oneshot(whole(Rule::USER, user)).await.unwrap();
        assert_eq!(answer.headers()["x-user"], user);
        assert_eq!(answer.into_body().collect().await.unwrap().to_bytes(), user);
    }
}

#[tokio::test]
async fn a_user_has_one_answer_compressed_at_a_time_and_others_go_on() {
    let admission = Admission::new(&Config::default());
    let layer: Layer<Admit<Grpc>> = admission.layer();
    let service = service_fn(async |_: Request<Body>| {
        let body = stream::once(async { Ok::<_, Status>(Frame::data(Bytes::from_static(ONE))) });
        let answer = Response::builder().header("grpc-encoding", "gzip");
        Ok::<_, Infallible>(answer.body(Body::new(StreamBody::new(body))).unwrap())
    });
    let ask = async |user| layer.layer(service).oneshot(whole(Rule::USER, user)).await.unwrap().into_body();
    let (mut one, mut theirs) = (ask("riley").await, ask("sam").await);
    let turn = admission.0.large.acquire(Some(&Principal::User("riley".parse().unwrap()))).await;
    assert!(one.frame().now_or_never().is_none());
    if available_parallelism().map_or(1, usize::from) > 1 {
        assert!(theirs.frame().now_or_never().is_some());
    }
    drop(turn);
    assert!(one.frame().await.unwrap().is_ok());
}
