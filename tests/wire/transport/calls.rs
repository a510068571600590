//! What single calls get: deadlines, refusals, panics. Each ends its own stream and no other.

use std::time::Duration;

use bytes::Bytes;
use h2::client::Builder;
use http::StatusCode;
use tonic::Code;
use tonic_types::StatusExt;
use toolwire::{config::ServerBounds, transport::Config};

use super::{
    client::{Client, answer, soon},
    server::{
        CHECK, Event, FLOOD, PANIC_IN_BODY, PANIC_IN_CALL, PANIC_IN_FUTURE, PROMPT, SILENT, SLOW, Server,
        UNREAD, VERBOSE, WATCH, limited,
    },
};

const SHORT: &[(&str, &str)] = &[("grpc-timeout", "300m")];

#[tokio::test]
async fn a_unary_call_ends_by_its_deadline() {
    let mut server = Server::start(Config::default());
    let client = Client::connect(server.address).await;
    let answer = soon(client.call(SLOW, SHORT)).await;
    assert_eq!(answer.refusal(), (Code::DeadlineExceeded, "DEADLINE_EXCEEDED".to_owned()));
    assert!(answer.is_trailers_only());
    assert_eq!([server.event().await, server.event().await], [Event::Began, Event::Dropped]);
}

#[tokio::test]
async fn a_stream_ends_by_its_deadline_in_its_trailers() {
    let mut server = Server::start(Config::default());
    let client = Client::connect(server.address).await;
    let answer = soon(client.call(SILENT, SHORT)).await;
    assert_eq!(answer.refusal(), (Code::DeadlineExceeded, "DEADLINE_EXCEEDED".to_owned()));
    assert_eq!(answer.body.len(), 5);
    assert_eq!([server.event().await, server.event().await], [Event::Began, Event::Dropped]);
}

#[tokio::test]
async fn a_stream_that_never_pauses_ends_by_its_deadline() {
    let server = Server::start(Config::default());
    let client = Client::connect(server.address).await;
    let answer = soon(client.call(FLOOD, SHORT)).await;
    assert_eq!(answer.status().code(), Code::DeadlineExceeded);
}

#[tokio::test]
async fn streams_that_are_not_read_do_not_stop_another_of_their_connection() {
    let mut server = Server::start(Config::default());
    let client = Client::connect(server.address).await;
    let bounds = ServerBounds::default();
    let body = Bytes::from(vec![0; bounds.stream_window as usize]);
    let mut unread = Vec::new();
    for _ in 1..bounds.max_concurrent_streams {
        let headers = [("content-type", "application/grpc"), ("te", "trailers")];
        unread.push(client.start_bytes(UNREAD, &headers, body.clone()).await);
        assert_eq!(server.event().await, Event::Began);
    }
    assert_eq!(soon(client.call(CHECK, &[])).await.status().code(), Code::Ok);
    drop(unread);
}

#[tokio::test]
async fn a_stream_whose_reader_has_stalled_is_reset_after_its_deadline() {
    let config = limited(ServerBounds { max_concurrent_calls: 1, ..ServerBounds::default() });
    let mut server = Server::start(config);
    let client = Client::with(server.address, Builder::new().initial_window_size(0)).await;
    let error = soon(answer(client.start(FLOOD, SHORT).await)).await.unwrap_err();
    assert_eq!(error.reason(), Some(h2::Reason::CANCEL));
    assert_eq!([server.event().await, server.event().await], [Event::Began, Event::Dropped]);
    // Its permit is free again.
    let other = Client::connect(server.address).await;
    assert_eq!(other.call(PROMPT, &[]).await.status().code(), Code::Ok);
}

#[tokio::test]
async fn the_servers_cap_bounds_a_call_but_not_a_watch() {
    let server = Server::start(Config { server_cap: Duration::from_millis(50), ..Config::default() });
    let client = Client::connect(server.address).await;
    let watch = client.start(WATCH, &[]).await;
    for path in [SLOW, SILENT] {
        let answer = soon(client.call(path, &[("grpc-timeout", "1H")])).await;
        assert_eq!(answer.status().code(), Code::DeadlineExceeded, "{path}");
    }
    // The watch has outlived two caps and still tells what changes.
    let mut body = soon(watch).await.unwrap().into_body();
    soon(body.data()).await.unwrap().unwrap();
    server.health.set_service_status("", tonic_health::ServingStatus::NotServing).await;
    let changed = soon(body.data()).await.unwrap().unwrap();
    assert_eq!(changed[..], [0, 0, 0, 0, 2, 8, 2]);
    // But not its own time-out.
    assert_eq!(soon(client.call(WATCH, SHORT)).await.status().code(), Code::DeadlineExceeded);
}

#[tokio::test]
async fn a_call_that_is_reset_is_dropped() {
    let mut server = Server::start(Config::default());
    let client = Client::connect(server.address).await;
    for path in [SLOW, SILENT] {
        let call = client.start(path, &[]).await;
        assert_eq!(server.event().await, Event::Began);
        drop(call);
        assert_eq!(server.event().await, Event::Dropped, "{path}");
    }
}

#[tokio::test]
async fn a_malformed_time_out_is_an_invalid_argument() {
    let server = Server::start(Config::default());
    let client = Client::connect(server.address).await;
    for value in ["100", "100s", "123456789m", "-1S"] {
        let answer = client.call(PROMPT, &[("grpc-timeout", value)]).await;
        assert_eq!(answer.refusal(), (Code::InvalidArgument, "INVALID_TIMEOUT".to_owned()));
        let violations = answer.status().get_details_bad_request().unwrap().field_violations;
        assert_eq!(violations[0].field, "grpc-timeout");
    }
    assert_eq!(client.call(PROMPT, &[("grpc-timeout", "10S")]).await.status().code(), Code::Ok);
}

#[tokio::test]
async fn what_is_not_grpc_gets_415_on_its_own_stream() {
    let server = Server::start(Config::default());
    let client = Client::connect(server.address).await;
    for kind in ["application/grpc-web+proto", "application/json"] {
        let call = client.start_bytes(PROMPT, &[("content-type", kind)], Bytes::new()).await;
        let answer = answer(call).await.unwrap();
        assert_eq!(answer.http_status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
        assert!(!answer.headers.contains_key("grpc-status"));
        assert!(answer.body.starts_with(b"This port speaks gRPC only"), "{answer:?}");
    }
    assert_eq!(client.call(PROMPT, &[]).await.status().code(), Code::Ok);
}

#[tokio::test]
async fn an_unknown_method_is_unimplemented() {
    let server = Server::start(Config::default());
    let client = Client::connect(server.address).await;
    for path in ["/test.Service/Unknown", "/", "/grpc.health.v1.Health/check", "//"] {
        let answer = client.call(path, &[]).await;
        assert_eq!(answer.refusal(), (Code::Unimplemented, "UNKNOWN_METHOD".to_owned()), "{path}");
    }
}

#[tokio::test]
async fn a_message_over_the_limit_is_resource_exhausted() {
    let server = Server::start(Config::default());
    let client = Client::connect(server.address).await;
    let mut body = vec![0, 0, 0, 8, 0];
    body.resize(5 + 2_048, 0);
    let call = client.start_bytes(CHECK, &[("content-type", "application/grpc")], body.into()).await;
    let refusal = answer(call).await.unwrap().refusal();
    assert_eq!(refusal, (Code::ResourceExhausted, "MESSAGE_TOO_LARGE".to_owned()));
}

#[tokio::test]
async fn headers_over_the_limit_end_their_own_stream() {
    let server = Server::start(Config::default());
    let client = Client::connect(server.address).await;
    let large = "x".repeat(9_000);
    let answer = client.call(PROMPT, &[("x-large", &large)]).await;
    assert_eq!(answer.http_status, StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE);
    assert_eq!(client.call(PROMPT, &[]).await.status().code(), Code::Ok);
}

#[tokio::test]
async fn a_long_status_message_keeps_its_code() {
    let server = Server::start(Config::default());
    let client = Client::connect(server.address).await;
    let answer = client.call(VERBOSE, &[]).await;
    assert_eq!(answer.refusal(), (Code::DataLoss, "DATA_LOSS".to_owned()));
    assert!(answer.status().message().len() <= 1_024);
}

#[tokio::test]
async fn a_call_over_the_limit_is_shed_and_health_is_not() {
    let mut server =
        Server::start(limited(ServerBounds { max_concurrent_calls: 1, ..ServerBounds::default() }));
    let client = Client::connect(server.address).await;
    let held = client.start(SLOW, &[]).await;
    assert_eq!(server.event().await, Event::Began);

    let shed = client.call(PROMPT, &[]).await;
    assert_eq!(shed.refusal(), (Code::Unavailable, "OVERLOADED".to_owned()));
    assert!(shed.is_trailers_only());
    assert_eq!(shed.headers["grpc-retry-pushback-ms"], "1000");
    let retry_info = shed.status().get_details_retry_info().unwrap();
    assert_eq!(retry_info.retry_delay, Some(Duration::from_secs(1)));
    assert_eq!(client.call(CHECK, &[]).await.status().code(), Code::Ok);

    server.release.add_permits(1);
    assert_eq!(answer(held).await.unwrap().status().code(), Code::Ok);
    assert_eq!(client.call(PROMPT, &[]).await.status().code(), Code::Ok);
}

#[tokio::test]
async fn a_user_who_has_his_share_is_told_when_to_come_back_and_others_go_on() {
    const MALLORY: (&str, &str) = ("x-toolwire-user", "mallory");
    let mut server =
        Server::start(limited(ServerBounds { max_calls_per_user: 2, ..ServerBounds::default() }));
    let client = Client::connect(server.address).await;
    let _held = [client.start(SLOW, &[MALLORY]).await, client.start(SLOW, &[MALLORY]).await];
    assert_eq!([server.event().await, server.event().await], [Event::Began, Event::Began]);
    for _ in 0..100 {
        let beyond = client.call(PROMPT, &[MALLORY]).await;
        assert_eq!(beyond.refusal(), (Code::ResourceExhausted, "SHARE_EXHAUSTED".to_owned()));
        assert_eq!(beyond.headers["grpc-retry-pushback-ms"], "1000");
        let retry_info = beyond.status().get_details_retry_info().unwrap();
        assert_eq!(retry_info.retry_delay, Some(Duration::from_secs(1)));
        assert_eq!(client.call(PROMPT, &[]).await.status().code(), Code::Ok);
    }
}

#[tokio::test]
async fn half_requests_hold_no_call_and_are_ended() {
    const MALLORY: (&str, &str) = ("x-toolwire-user", "mallory");
    let request_timeout = Duration::from_millis(200);
    let config = limited(ServerBounds {
        max_concurrent_calls: 1,
        max_unfinished_per_user: 4,
        request_timeout,
        ..ServerBounds::default()
    });
    let server = Server::start(config);
    let client = Client::connect(server.address).await;
    let mut halves = Vec::new();
    // No data, a part of a prefix, a part of a message, and a whole message without the end of the body.
    for begun in [&[][..], &[0, 0], &[0, 0, 0, 0, 9, 1], &[0; 5]] {
        halves.push(client.start_half(PROMPT, &[MALLORY], begun).await);
    }
    let (beyond, _stream) = client.start_half(PROMPT, &[MALLORY], &[0]).await;
    let beyond = soon(answer(beyond)).await.unwrap();
    assert_eq!(beyond.refusal(), (Code::ResourceExhausted, "SHARE_EXHAUSTED".to_owned()));
    assert_eq!(beyond.status().get_details_quota_failure().unwrap().violations[0].subject, "user:mallory");
    assert_eq!(client.call(PROMPT, &[]).await.status().code(), Code::Ok);
    for (half, _stream) in halves {
        let end = soon(answer(half)).await.unwrap();
        assert_eq!(end.refusal(), (Code::DeadlineExceeded, "REQUEST_INCOMPLETE".to_owned()));
        assert!(end.is_trailers_only());
    }
}

#[tokio::test]
async fn a_second_message_of_a_unary_call_is_an_invalid_argument() {
    let server = Server::start(Config::default());
    let client = Client::connect(server.address).await;
    let two = Bytes::from_static(&[0; 10]);
    let call = client.start_bytes(PROMPT, &[("content-type", "application/grpc")], two).await;
    let refusal = soon(answer(call)).await.unwrap().refusal();
    assert_eq!(refusal, (Code::InvalidArgument, "MALFORMED_REQUEST".to_owned()));
}

#[tokio::test]
async fn a_stalled_reader_hears_of_its_deadline_where_trailers_can_come_through() {
    let mut server = Server::start(Config::default());
    let shut = Client::with(server.address, Builder::new().initial_window_size(0)).await;
    // Trailers-only: no window is needed.
    let unary = soon(answer(shut.start(SLOW, SHORT).await)).await.unwrap();
    assert_eq!(unary.refusal(), (Code::DeadlineExceeded, "DEADLINE_EXCEEDED".to_owned()));
    assert_eq!([server.event().await, server.event().await], [Event::Began, Event::Dropped]);
    // One byte is left when the stream falls silent, and nobody gives more.
    let narrow = Client::with(server.address, Builder::new().initial_window_size(6)).await;
    let mut body = soon(narrow.start(SILENT, SHORT).await).await.unwrap().into_body();
    assert_eq!(soon(body.data()).await.unwrap().unwrap().len(), 5);
    let trailers = soon(body.trailers()).await.unwrap().unwrap();
    assert_eq!(trailers["grpc-status"], (Code::DeadlineExceeded as i32).to_string().as_str());
}

#[tokio::test]
async fn a_panic_ends_its_own_stream() {
    let server = Server::start(Config::default());
    let client = Client::connect(server.address).await;
    let other = client.start(SLOW, &[]).await;
    for path in [PANIC_IN_CALL, PANIC_IN_FUTURE, PANIC_IN_BODY] {
        let answer = soon(client.call(path, &[])).await;
        assert_eq!(answer.refusal(), (Code::Internal, "INTERNAL".to_owned()), "{path}");
    }
    server.release.add_permits(1);
    assert_eq!(soon(answer(other)).await.unwrap().status().code(), Code::Ok);
}

#[tokio::test]
async fn a_malformed_user_is_refused_before_the_service() {
    let server = Server::start(Config::default());
    let client = Client::connect(server.address).await;
    let answer = client.call(PROMPT, &[("x-toolwire-user", "two words")]).await;
    assert_eq!(answer.refusal(), (Code::InvalidArgument, "INVALID_USER".to_owned()));
}

#[tokio::test]
async fn a_large_answer_arrives_whole_through_small_windows() {
    let server = Server::start(Config::default());
    let client = Client::with(server.address, Builder::new().initial_window_size(1_000)).await;
    let mut body = soon(client.start(FLOOD, &[]).await).await.unwrap().into_body();
    let mut received = 0;
    while received < 1_000_000 {
        let data = soon(body.data()).await.unwrap().unwrap();
        body.flow_control().release_capacity(data.len()).unwrap();
        received += data.len();
    }
}
