//! Where the requests of a command go, and with which identity: to a server, over an HTTP/2 channel with TLS for
//! `https://`, or to the services of its own process.

use std::{
    error::Error,
    path::Path,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use futures_util::{FutureExt, TryFutureExt, future::BoxFuture};
use http::{
    HeaderMap, HeaderValue, Request, Response, StatusCode, Uri,
    header::{AUTHORIZATION, CONTENT_TYPE, TE},
};
use http_body_util::Full;
use secrecy::{ExposeSecret, SecretString};
use tokio::time::timeout;
use tonic::{
    Status,
    body::Body,
    metadata::{AsciiMetadataValue, MetadataMap},
    transport::{self, Channel, Endpoint},
};
use tower::{BoxError, ServiceExt};

use super::{
    probe::{self, ProbeResult},
    server_url::ServerUrl,
    tls,
    token_source::TokenSource,
};
use crate::{
    console::Failure,
    faces::{grpc::Routes, incoming},
};
use toolwire_contract::status::wrong_port;
use toolwire_mcp::server::Via;
use toolwire_tool::context::{Origin, ToolsetName, User, UserId};
use toolwire_transport::toolset;

/// Maximum time to connect, and then that of each of the first responses.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Methods that change nothing and that every server of ours has.
const METHODS: [&str; 2] = ["/grpc.health.v1.Health/Check", "/toolwire.v1.ToolService/GetLimits"];
/// The interval of keep-alive pings to a silent server, and the time-out of each.
const KEEPALIVE: (Duration, Duration) = (Duration::from_secs(20), Duration::from_secs(10));

/// The transport of a command's requests, for generated clients. It adds the caller's identity to each. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Server(Transport);

#[derive(Clone, Debug)]
enum Transport {
    /// To a server, by the flags `--server`, `--token`, `--ca` and `--user`.
    Connected { channel: Channel, credentials: HeaderMap, tokens: Option<Arc<dyn TokenSource>> },
    /// To the services of this program, on behalf of this user. `cap` bounds every call and turn, and records name the
    /// face.
    Within { routes: Routes, user: User, cap: Duration, face: &'static str },
}

#[derive(Clone, Debug, Default)]
pub struct Credentials {
    pub token: Option<SecretString>,
    /// What has the token of each request, in place of one that stays.
    pub tokens: Option<Arc<dyn TokenSource>>,
    /// The user, where the server needs no credentials.
    pub user: Option<UserId>,
    /// The toolset to which every request is narrowed.
    pub toolset: Option<ToolsetName>,
}

impl Server {
    /// Connects to a server, over TLS for `https://`: trusting the authorities in `ca`, or else those of the platform.
    pub async fn connect(
        url: &ServerUrl,
        credentials: &Credentials,
        ca: Option<&Path>,
    ) -> Result<Self, Failure> {
        let metadata = metadata(credentials)?;
        let mut endpoint = Endpoint::from_shared(url.0.clone()).map_err(|error| unreachable(url, &error))?;
        if url.is_https() {
            endpoint = tls::add(endpoint, ca)?;
        }
        let endpoint = endpoint
            .connect_timeout(CONNECT_TIMEOUT)
            .http2_keep_alive_interval(KEEPALIVE.0)
            .keep_alive_timeout(KEEPALIVE.1);
        // The endpoint does not bound the TLS handshake.
        let channel = match timeout(CONNECT_TIMEOUT, endpoint.connect()).await {
            Ok(connected) => connected.map_err(|error| unreachable(url, &error))?,
            Err(_) => return Err(unanswered(url, None).await),
        };
        check_grpc(url, channel.clone()).await?;
        let tokens = credentials.tokens.clone();
        Ok(Self(Transport::Connected { channel, credentials: metadata.into_headers(), tokens }))
    }

    /// A transport to the services of this program, on behalf of this user. `cap` bounds every call and turn.
    pub fn within(routes: Routes, user: User, cap: Duration) -> Self {
        Self(Transport::Within { routes, user, cap, face: Origin::PROCESS.face })
    }

    /// The same, by the name of another face in the records of this program's own services.
    #[must_use]
    pub fn by_face(mut self, name: &'static str) -> Self {
        if let Transport::Within { face, .. } = &mut self.0 {
            *face = name;
        }
        self
    }
}

impl tower::Service<Request<Body>> for Server {
    type Response = Response<Body>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Response<Body>, BoxError>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        match &mut self.0 {
            Transport::Connected { channel, tokens: None, .. } => channel.poll_ready(cx).map_err(Into::into),
            Transport::Connected { .. } | Transport::Within { .. } => Poll::Ready(Ok(())),
        }
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        match &mut self.0 {
            Transport::Connected { channel, credentials, tokens } => {
                request.headers_mut().extend(credentials.clone());
                if let Some(Via(face)) = request.extensions().get::<Via>().copied() {
                    request.headers_mut().insert(incoming::VIA, HeaderValue::from_static(face));
                }
                match tokens {
                    None => channel.call(request).map_err(Into::into).boxed(),
                    Some(tokens) => with_token(request, Arc::clone(tokens), channel.clone()).boxed(),
                }
            }
            Transport::Within { routes, user, cap, face } => {
                let face = request.extensions().get::<Via>().map_or(*face, |Via(face)| face);
                incoming::enter(&mut request, user.clone(), *cap, face);
                routes.call(request).map_err(|never| match never {}).boxed()
            }
        }
    }
}

/// Sends a request with the token of now. Without one it is answered here.
async fn with_token(
    mut request: Request<Body>,
    tokens: Arc<dyn TokenSource>,
    channel: Channel,
) -> Result<Response<Body>, BoxError> {
    match tokens.token().await {
        Ok(token) => {
            let mut value = HeaderValue::try_from(format!("Bearer {}", token.expose_secret()))?;
            value.set_sensitive(true);
            request.headers_mut().insert(AUTHORIZATION, value);
            Ok(channel.oneshot(request).await?)
        }
        Err(status) => Ok(status.into_http()),
    }
}

fn metadata(credentials: &Credentials) -> Result<MetadataMap, Failure> {
    let mut metadata = MetadataMap::new();
    if let Some(token) = &credentials.token {
        let bearer = format!("Bearer {}", token.expose_secret());
        let usage = |_| Failure::Usage("the token must be visible ASCII characters; check it".to_owned());
        let mut value: AsciiMetadataValue = bearer.parse().map_err(usage)?;
        value.set_sensitive(true);
        metadata.insert("authorization", value);
    }
    if let Some(user) = &credentials.user {
        let value = user.as_str().parse().expect("a user id is visible ASCII");
        metadata.insert("x-toolwire-user", value);
    }
    if let Some(toolset) = &credentials.toolset {
        let value = toolset.as_str().parse().expect("the name of a toolset is visible ASCII");
        metadata.insert(toolset::NAME, value);
    }
    Ok(metadata)
}

/// Checks that the peer speaks gRPC, which a connection alone does not show. Uses plain HTTP/2 requests: a gRPC client
/// would report errors in the bytes of any other response.
async fn check_grpc(url: &ServerUrl, channel: Channel) -> Result<(), Failure> {
    for method in METHODS {
        match timeout(CONNECT_TIMEOUT, channel.clone().oneshot(empty(method))).await {
            Ok(Ok(answer)) if is_grpc(answer.headers()) => {
                let status = Status::from_header_map(answer.headers());
                return match status.as_ref().and_then(wrong_port::grpc_port) {
                    Some(port) => Err(at_http_port(url, port)),
                    None => Ok(()),
                };
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
fn at_http_port(url: &ServerUrl, grpc: Option<u16>) -> Failure {
    let instead = grpc.and_then(|port| url.at(port)).map_or_else(
        || "name the address that `toolwire serve` prints first".to_owned(),
        |url| format!("use --server {url}"),
    );
    Failure::Failed(format!("{url} is the server's HTTP port, and this program speaks gRPC: {instead}"))
}

/// Why no response came: because of an error, or for want of one in time.
async fn unanswered(url: &ServerUrl, error: Option<&transport::Error>) -> Failure {
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

fn unreachable(url: &ServerUrl, error: &(dyn Error + 'static)) -> Failure {
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

    #[test]
    fn a_token_is_sent_as_a_sensitive_header() {
        let credentials = Credentials { token: Some("t0ken".into()), ..Credentials::default() };
        let metadata = metadata(&credentials).unwrap();
        let value = metadata.get("authorization").unwrap();
        assert!(value.is_sensitive());
        assert_eq!(value.to_str().unwrap(), "Bearer t0ken");
    }
}
