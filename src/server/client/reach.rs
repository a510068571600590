//! Whether the peer at an address is a server that speaks gRPC, and in plain words what it is otherwise.

use std::{error::Error, time::Duration};

use bytes::Bytes;
use http::{
    HeaderMap, HeaderValue, Request, StatusCode, Uri,
    header::{CONTENT_TYPE, TE},
};
use http_body_util::Full;
use tokio::time::timeout;
use tonic::{
    Status,
    body::Body,
    transport::{self, Channel},
};
use tower::ServiceExt;

use super::{
    probe::{self, ProbeResult},
    server_url::ServerUrl,
    tls,
};
use crate::console::Failure;
use toolwire_contract::status::wrong_port;

/// Maximum time to connect, and then that of each of the first responses.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Methods that change nothing and that every server of ours has.
const METHODS: [&str; 2] = ["/grpc.health.v1.Health/Check", "/toolwire.v1.ToolService/GetLimits"];

/// Where a server of ours speaks gRPC.
#[derive(Clone, Copy, Debug)]
pub(super) enum Spoken {
    Here,
    /// At another port, if it says at which.
    At(Option<u16>),
}

/// Checks that the peer speaks gRPC, which a connection alone does not show. Uses plain HTTP/2 requests: a gRPC client
/// would report errors in the bytes of any other response.
pub(super) async fn check_grpc(url: &ServerUrl, channel: Channel) -> Result<Spoken, Failure> {
    for method in METHODS {
        match timeout(CONNECT_TIMEOUT, channel.clone().oneshot(empty(method))).await {
            Ok(Ok(answer)) if is_grpc(answer.headers()) => {
                let status = Status::from_header_map(answer.headers());
                let elsewhere = status.as_ref().and_then(wrong_port::grpc_port);
                return Ok(elsewhere.map_or(Spoken::Here, Spoken::At));
            }
            Ok(Ok(answer)) if is_gateway_error(answer.status()) => {
                return Err(behind_gateway(url, answer.status()));
            }
            // A proxy may forward one of the methods only.
            Ok(Ok(_)) => {}
            Ok(Err(error)) => return Err(unanswered(url, Some(&error)).await),
            Err(_) => return Err(unanswered(url, None).await),
        }
    }
    Err(no_server(url, &ProbeResult::Http2))
}

/// A request for a method with one empty message.
fn empty(method: &'static str) -> Request<Body> {
    let mut request = Request::new(Body::new(Full::from(Bytes::from_static(&[0; 5]))));
    *request.method_mut() = http::Method::POST;
    *request.uri_mut() = Uri::from_static(method);
    request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    request.headers_mut().insert(TE, HeaderValue::from_static("trailers"));
    request
}

/// Also true for a status without a content type, which a proxy without a server may send.
fn is_grpc(headers: &HeaderMap) -> bool {
    let has_type = |kind: &HeaderValue| kind.as_bytes().starts_with(b"application/grpc");
    headers.contains_key("grpc-status") || headers.get(CONTENT_TYPE).is_some_and(has_type)
}

fn is_gateway_error(status: StatusCode) -> bool {
    matches!(status, StatusCode::BAD_GATEWAY | StatusCode::SERVICE_UNAVAILABLE | StatusCode::GATEWAY_TIMEOUT)
}

fn behind_gateway(url: &ServerUrl, status: StatusCode) -> Failure {
    Failure::Failed(format!(
        "a proxy answers at {} and cannot reach a server behind it: HTTP {status}. Is `toolwire serve` running there?",
        url.0
    ))
}

/// The server's own port for something else.
pub(super) fn at_http_port(url: &ServerUrl, grpc: Option<u16>) -> Failure {
    let instead = grpc.and_then(|port| url.at(port)).map_or_else(
        || "name the address that `toolwire serve` prints first".to_owned(),
        |url| format!("use --server {url}"),
    );
    Failure::Failed(format!("{url} is the server's HTTP port, and this program speaks gRPC: {instead}"))
}

/// Why no response came: because of an error, or for want of one in time.
pub(super) async fn unanswered(url: &ServerUrl, error: Option<&transport::Error>) -> Failure {
    match (probe::probe(&url.0).await, error) {
        (ProbeResult::Tls, _) if !url.is_https() => {
            Failure::Failed(format!("the server speaks TLS: use {}", tls::https_url(url)))
        }
        (ProbeResult::Tls | ProbeResult::Http2, Some(error)) => unreachable(url, error),
        // It may be one of ours that is frozen, or starved by others.
        (ProbeResult::Tls | ProbeResult::Http2 | ProbeResult::Silence, None) => silent(url),
        (found, _) => no_server(url, &found),
    }
}

fn silent(ServerUrl(url): &ServerUrl) -> Failure {
    let within = CONNECT_TIMEOUT.as_secs();
    let advice = "It is stopped or overloaded, or no toolwire server";
    Failure::Failed(format!("{url} accepted the connection and did not answer within {within} s. {advice}"))
}

fn no_server(url: &ServerUrl, found: &ProbeResult) -> Failure {
    let advice = "Name the address that `toolwire serve` prints, with --server or TOOLWIRE_SERVER";
    Failure::Failed(format!("no toolwire server at {}: {found}. {advice}", url.0))
}

pub(super) fn unreachable(url: &ServerUrl, error: &(dyn Error + 'static)) -> Failure {
    if let Some(why) = tls::why(url, error) {
        return Failure::Failed(format!("cannot talk to {}: {why}", url.0));
    }
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    let advice = "Is it running? Start it with `toolwire serve`, or name another with --server";
    Failure::Failed(format!("cannot reach {}: {cause}. {advice}", url.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_without_a_content_type_is_grpc() {
        let mut headers = HeaderMap::new();
        assert!(!is_grpc(&headers));
        headers.insert("grpc-status", HeaderValue::from_static("14"));
        assert!(is_grpc(&headers));
    }
}
