//! What is looked at by headers alone: hosts, origins, routes, types of bodies, time-outs.

use std::{fmt::Write as _, net::SocketAddr};

use tonic_types::StatusExt;

use crate::{
    http::{
        raw::{Answer, Raw, ask},
        toys::{COUNT, READY, Toys},
    },
    support::{raw as support_raw, server::config_with_http},
};

const JSON: &str = "content-type: application/json";

async fn named(address: SocketAddr, host: &str, headers: &str) -> Answer {
    let mut raw = Raw::connect(address).await;
    raw.say(format!("GET {READY} HTTP/1.1\r\nhost: {host}\r\n{headers}\r\n")).await;
    raw.answer().await
}

#[tokio::test]
async fn a_foreign_host_is_refused_where_nobody_needs_credentials() {
    let toys = Toys::start();
    for ours in ["localhost", "localhost:50080", "127.0.0.1", "[::1]:1", "toys.localhost"] {
        assert_eq!(named(toys.http, ours, "").await.status, 200, "{ours}");
    }
    for foreign in ["evil.example", "localhost.evil.example:50080", "10.1.2.3"] {
        let answer = named(toys.http, foreign, "").await;
        assert_eq!((answer.status, answer.code().as_str()), (403, "FOREIGN_HOST"), "{foreign}");
    }
}

#[tokio::test]
async fn a_foreign_page_is_refused_and_one_that_is_allowed_is_told_so() {
    let mut config = config_with_http();
    config.http.allowed_origins = vec!["http://app.example:3000".to_owned()];
    let toys = Toys::with(config);
    for origin in ["http://evil.example", "null", "http://app.example", "https://localhost"] {
        let answer = named(toys.http, "localhost", &format!("origin: {origin}\r\n")).await;
        assert_eq!((answer.status, answer.code().as_str()), (403, "FOREIGN_ORIGIN"), "{origin}");
        assert!(!answer.headers.contains_key("access-control-allow-origin"), "{origin}");
    }
    for origin in ["http://app.example:3000", "http://localhost"] {
        let answer = named(toys.http, "localhost", &format!("origin: {origin}\r\n")).await;
        assert_eq!(answer.status, 200, "{origin}");
        assert_eq!(answer.headers["access-control-allow-origin"], origin);
        assert_eq!(answer.headers["vary"], "origin");
    }
    assert!(!named(toys.http, "localhost", "").await.headers.contains_key("access-control-allow-origin"));
}

#[tokio::test]
async fn an_origin_is_compared_by_what_it_means_and_repeated_as_it_was_written() {
    let mut config = config_with_http();
    config.http.allowed_origins = vec!["https://App.Example/".to_owned()];
    let toys = Toys::with(config);
    let host = format!("127.0.0.1:{}", toys.http.port());
    let own = format!("http://{host}");
    for origin in [
        "https://app.example/",
        "https://APP.example",
        "HTTPS://APP.EXAMPLE",
        "https://app.example:443",
        &*own,
    ] {
        let answer = named(toys.http, &host, &format!("origin: {origin}\r\n")).await;
        assert_eq!(answer.status, 200, "{origin}");
        assert_eq!(answer.headers["access-control-allow-origin"], origin);
    }
    // Another name of this machine is another origin.
    let localhost = format!("http://localhost:{}", toys.http.port());
    for origin in
        [&*localhost, "http://app.example", "https://app.example:8443", "vscode-webview://x", "null"]
    {
        let answer = named(toys.http, &host, &format!("origin: {origin}\r\n")).await;
        assert_eq!((answer.status, answer.code().as_str()), (403, "FOREIGN_ORIGIN"), "{origin}");
    }
}

#[tokio::test]
async fn an_allowed_page_can_read_every_answer_and_the_ids_in_its_headers() {
    let mut config = config_with_http();
    config.http.allowed_origins = vec!["https://app.example".to_owned()];
    let toys = Toys::with(config);
    let private = "access-control-request-private-network: true";
    for (status, method, path, kind, body) in [
        (200, "GET", READY, JSON, ""),
        (404, "GET", "/toys/lost", JSON, ""),
        (405, "GET", COUNT, JSON, ""),
        (415, "POST", COUNT, "content-type: text/plain", "{}"),
        (404, "POST", "/v1/tools/debug_fail:call", JSON, r#"{"code": "NOT_FOUND"}"#),
    ] {
        let headers = ["origin: https://app.example", private, kind];
        let answer = ask(toys.http, method, path, &headers, body).await;
        assert_eq!(answer.status, status, "{path}: {answer:?}");
        assert_eq!(answer.headers["access-control-allow-origin"], "https://app.example", "{path}");
        let exposed: Vec<_> = answer.headers["access-control-expose-headers"].split(", ").collect();
        for name in ["x-toolwire-turn-id", "x-toolwire-trace-id"] {
            assert!(exposed.contains(&name), "{path}: {exposed:?}");
        }
        assert!(!answer.headers.contains_key("access-control-allow-private-network"), "{path}: {answer:?}");
    }
}

#[tokio::test]
async fn a_browser_that_asks_beforehand_is_answered_for_allowed_pages_alone() {
    let toys = Toys::start();
    let question = ["origin: http://localhost", "access-control-request-method: POST"];
    let answer = ask(toys.http, "OPTIONS", COUNT, &question, "").await;
    assert_eq!(answer.status, 204);
    assert!(answer.headers["access-control-allow-headers"].contains("idempotency-key"), "{answer:?}");
    assert_eq!(answer.headers["access-control-allow-origin"], "http://localhost");
    // What tracing adds by itself is in no list, so that the page's own question is the answer.
    let wanted =
        "authorization,baggage,content-type,sentry-trace,x-b3-traceid,x-datadog-parent-id,x-of-tomorrow";
    let wanted_headers = format!("access-control-request-headers: {wanted}");
    let answer = ask(toys.http, "OPTIONS", COUNT, &[question[0], question[1], &wanted_headers], "").await;
    assert_eq!(answer.headers["access-control-allow-headers"], wanted);
    let question = ["origin: http://evil.example", "access-control-request-method: POST"];
    assert_eq!(ask(toys.http, "OPTIONS", COUNT, &question, "").await.status, 403);
}

#[tokio::test]
async fn a_browser_that_asks_beforehand_is_answered_alike_at_every_path() {
    let toys = Toys::start();
    for (method, path) in [("POST", COUNT), ("GET", READY), ("PUT", READY), ("DELETE", "/toys/lost")] {
        let method = format!("access-control-request-method: {method}");
        let private = "access-control-request-private-network: true";
        let question = ["origin: http://localhost", method.as_str(), private];
        let answer = ask(toys.http, "OPTIONS", path, &question, "").await;
        assert_eq!(answer.status, 204, "{method} {path}");
        let methods = &answer.headers["access-control-allow-methods"];
        assert_eq!(methods, "GET, HEAD, POST, PUT, PATCH, DELETE", "{method} {path}");
        assert_eq!(answer.headers["access-control-allow-origin"], "http://localhost", "{method} {path}");
        // Whether a page of a public network may ask a private one is not said here.
        assert!(!answer.headers.contains_key("access-control-allow-private-network"), "{answer:?}");
    }
}

#[tokio::test]
async fn unknown_paths_and_methods_say_what_there_is() {
    let toys = Toys::start();
    let answer = ask(toys.http, "GET", "/toys/lost", &[], "").await;
    assert_eq!((answer.status, answer.code().as_str()), (404, "UNKNOWN_ROUTE"));
    assert!(answer.body.contains("/openapi.json"), "{answer:?}");
    let answer = ask(toys.http, "GET", COUNT, &[], "").await;
    assert_eq!((answer.status, answer.code().as_str()), (405, "METHOD_NOT_ALLOWED"));
    assert_eq!(answer.headers["allow"], "POST");
    assert_eq!(ask(toys.http, "POST", READY, &[JSON], "{}").await.headers["allow"], "GET, HEAD");
    assert_eq!(ask(toys.http, "BREW", READY, &[], "").await.status, 405);
}

#[tokio::test]
async fn a_body_that_is_no_json_is_refused_before_it_is_read() {
    let toys = Toys::start();
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=a"] {
        let answer = ask(toys.http, "POST", COUNT, &[&format!("content-type: {kind}")], "{}").await;
        assert_eq!((answer.status, answer.code().as_str()), (415, "UNSUPPORTED_MEDIA_TYPE"), "{kind}");
    }
    assert_eq!(ask(toys.http, "POST", COUNT, &[], "{}").await.status, 415);
    assert_eq!(ask(toys.http, "POST", COUNT, &[JSON, "content-type: text/plain"], "{}").await.status, 415);
    assert_eq!(ask(toys.http, "POST", COUNT, &[JSON], "{}").await.body, "2");
    assert_eq!(ask(toys.http, "POST", COUNT, &[], "").await.body, "0");
}

#[tokio::test]
async fn a_time_out_that_cannot_be_read_is_refused() {
    let toys = Toys::start();
    for header in
        ["x-toolwire-timeout: soon", "x-toolwire-timeout: -1s", "x-toolwire-timeout:", "grpc-timeout: 5"]
    {
        let answer = ask(toys.http, "GET", READY, &[header], "").await;
        assert_eq!((answer.status, answer.code().as_str()), (400, "INVALID_TIMEOUT"), "{header}");
    }
    for header in ["x-toolwire-timeout: 1500ms", "x-toolwire-timeout: 2", "grpc-timeout: 5S"] {
        assert_eq!(ask(toys.http, "GET", READY, &[header], "").await.status, 200, "{header}");
    }
    let answer = ask(toys.http, "GET", READY, &["x-toolwire-timeout: 0s"], "").await;
    assert_eq!((answer.status, answer.code().as_str()), (504, "DEADLINE_EXCEEDED"));
}

#[tokio::test]
async fn headers_are_bounded() {
    let toys = Toys::start();
    let (mut many, long) = (String::new(), "x".repeat(20 * 1024));
    for n in 0..2_000 {
        write!(many, "x-{n}: y\r\n").unwrap();
    }
    for headers in [many, format!("x: {long}\r\n"), format!("x: {long}")] {
        let mut raw = Raw::connect(toys.http).await;
        raw.say(format!("GET {READY} HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n")).await;
        let told = raw.rest().await;
        assert!(told.starts_with("HTTP/1.1 431 "), "{told}");
    }
    let long = "x".repeat(12 * 1024);
    assert_eq!(named(toys.http, "localhost", &format!("x: {long}\r\n")).await.status, 200);
    let mut raw = Raw::connect(toys.http).await;
    raw.say(format!("GET /{} HTTP/1.1\r\nhost: localhost\r\n\r\n", "x".repeat(70_000))).await;
    let told = raw.rest().await;
    assert!(told.starts_with("HTTP/1.1 414 ") || told.starts_with("HTTP/1.1 431 "), "{told}");
}

#[tokio::test]
async fn a_client_of_grpc_is_told_where_grpc_is_spoken() {
    let toys = Toys::start();
    let client = support_raw::Raw::connect(toys.http).await;
    let path = "/toolwire.v1.ToolService/GetLimits";
    let end = client.start_bytes(path, &[], bytes::Bytes::from_static(&[0; 5])).await.end().await;
    assert_eq!((end.http_status, end.status()), (200, tonic::Code::Unimplemented as i32), "{end:?}");
    let info = end.grpc_status().get_details_error_info().unwrap();
    let port = toys.server.address.port();
    assert_eq!(
        (info.reason.as_str(), info.metadata["grpc_port"].as_str()),
        ("WRONG_PORT", &*port.to_string())
    );
    let expected = format!("this port speaks HTTP; gRPC is spoken on port {port}");
    assert_eq!(end.grpc_status().message(), expected);
}

#[tokio::test]
async fn the_other_port_says_where_http_is_spoken() {
    let toys = Toys::start();
    let mut raw = Raw::connect(toys.server.address).await;
    raw.say("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    let told = raw.rest().await;
    assert!(told.starts_with("HTTP/1.1 505 "), "{told}");
    assert!(told.ends_with(&format!("HTTP/1.1 is spoken on port {}.", toys.http.port())), "{told}");
    // Over HTTP/2, too.
    let client = support_raw::Raw::connect(toys.server.address).await;
    let request =
        http::Request::post("http://localhost/agent/chat").header("content-type", "application/json");
    let (status, text) = client.ask(request.body(()).unwrap()).await;
    assert_eq!(status, 415);
    assert!(text.ends_with(&format!("HTTP is spoken on port {}.\n", toys.http.port())), "{text}");
}
