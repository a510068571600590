//! The admin endpoint: `/metrics` for Prometheus, `/healthz` and `/readyz` for supervisors.
//!
//! Plain HTTP/1.1 without credentials, off unless an address is configured. Nothing it tells holds data of users: that
//! is what permits an address that other machines reach. It changes nothing; each connection answers one request within
//! a bound, and few are open at once, so that it cannot starve what it watches. At that bound a connection without a
//! request makes room for a new one, so that silent peers keep no probe out.

use std::{
    collections::VecDeque,
    convert::Infallible,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use axum::{
    Router,
    extract::{Request, State},
    http::{StatusCode, Version, header},
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
    routing::get,
};
use hyper::{body::Incoming, server::conn::http1};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, copy, sink},
    net::{TcpListener, TcpStream},
    sync::{Semaphore, watch},
    task::{AbortHandle, JoinSet},
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;
use tower::ServiceBuilder;

use super::{
    http::{
        boundary::{Boundary, Foreign},
        expect,
        host::BadHost,
    },
    readiness::Readiness,
};
use toolwire_config::{Config, Http};
use toolwire_telemetry::metric::export::{Scrape, TEXT_FORMAT};
use toolwire_transport::StrictFraming;

/// Connections at once; a further one takes the place of one without a request, or waits until one has ended.
const MAX_CONNECTIONS: usize = 16;
/// Maximum time to receive the headers of a request.
const HEADER_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum duration of a connection.
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes of a request's headers.
const MAX_HEADERS: usize = 16 * 1024;
/// The pause after an error of accept, such as a lack of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The beginning of the preface of HTTP/2, with which no HTTP/1 request begins.
const HTTP2: [u8; 5] = *b"PRI *";

const OVERVIEW: &str = "/metrics tells what is counted, /healthz whether the process lives, /readyz whether it takes \
                        calls\n";

const FOREIGN_HOST: &str = "this server does not answer by that name: name it by an address, as localhost, or by a name \
                            in http.allowed_hosts\n";
const FOREIGN_ORIGIN: &str = "pages of another origin may not read this: list it in http.allowed_origins\n";

/// The endpoint on an address that it has taken.
#[derive(Debug)]
pub struct Admin {
    listener: TcpListener,
    scrape: Option<Scrape>,
    /// The address of the gRPC listener.
    grpc_at: Option<SocketAddr>,
    boundary: Boundary,
}

/// The configured address cannot be taken.
#[derive(Debug, thiserror::Error)]
#[error("admin: cannot listen on {address}: {cause}. Name a free address with --admin, or leave it out")]
pub struct BindError {
    address: SocketAddr,
    cause: std::io::Error,
}

/// The state of the handlers.
#[derive(Clone, Debug)]
struct AdminState {
    scrape: Option<Scrape>,
    draining: CancellationToken,
    ready: watch::Receiver<Readiness>,
}

impl Admin {
    pub async fn bind(address: SocketAddr, scrape: Option<Scrape>) -> Result<Self, BindError> {
        let listener = TcpListener::bind(address).await.map_err(|cause| BindError { address, cause })?;
        let boundary = Boundary::of_operators(&Http::default(), false);
        Ok(Self { listener, scrape, grpc_at: None, boundary })
    }

    /// Takes over the names and origins of the HTTP listener.
    pub fn with_boundary(self, config: &Config) -> Self {
        let needs_credentials = !config.auth.is_open();
        Self { boundary: Boundary::of_operators(&config.http, needs_credentials), ..self }
    }

    /// Names the gRPC listener to gRPC clients that connect here.
    pub fn beside(self, grpc_at: Option<SocketAddr>) -> Self {
        Self { grpc_at, ..self }
    }

    /// The address, with the port that was taken.
    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Answers for as long as it is polled; not ready while `ready` says so, and once `draining` is cancelled.
    pub async fn serve(self, draining: CancellationToken, ready: watch::Receiver<Readiness>) -> Infallible {
        let routes = routes(AdminState { scrape: self.scrape, draining, ready }, self.boundary);
        let (permits, grpc_at) = (Arc::new(Semaphore::new(MAX_CONNECTIONS)), self.grpc_at);
        // Dropped with this future, and every connection with it.
        let mut connections = JoinSet::new();
        let mut silent = Silent::default();
        loop {
            while connections.try_join_next().is_some() {}
            match self.listener.accept().await {
                Ok((stream, _)) => {
                    if permits.available_permits() == 0 {
                        silent.close_oldest();
                    }
                    let permit =
                        Arc::clone(&permits).acquire_owned().await.expect("this semaphore is never closed");
                    let (routes, has_asked) = (routes.clone(), Arc::new(AtomicBool::new(false)));
                    let asked = Arc::clone(&has_asked);
                    let connection = connections.spawn(async move {
                        let _ = timeout(CONNECTION_TIMEOUT, answer(stream, routes, asked, grpc_at)).await;
                        drop(permit);
                    });
                    silent.add(connection, has_asked);
                }
                Err(error) => {
                    tracing::warn!(%error, "admin: a connection was not accepted");
                    sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }
}

/// The connections on which no request has come, the oldest first.
#[derive(Debug, Default)]
struct Silent(VecDeque<(AbortHandle, Arc<AtomicBool>)>);

impl Silent {
    fn add(&mut self, connection: AbortHandle, has_asked: Arc<AtomicBool>) {
        self.0.retain(|(connection, has_asked)| !connection.is_finished() && !has_asked.load(Relaxed));
        self.0.push_back((connection, has_asked));
    }

    /// Closes the oldest, if there is one; its permit is free soon after.
    fn close_oldest(&mut self) {
        self.0.retain(|(connection, has_asked)| !connection.is_finished() && !has_asked.load(Relaxed));
        if let Some((connection, _)) = self.0.pop_front() {
            connection.abort();
        }
    }
}

/// Answers one request. Errors of a connection are ignored: they concern its peer only.
async fn answer(stream: TcpStream, routes: Router, has_asked: Arc<AtomicBool>, grpc_at: Option<SocketAddr>) {
    let mut beginning = [0; HTTP2.len()];
    // Peeked, not read: HTTP/1 needs the bytes. A silent peer is left to the time-out of headers below.
    let seen = timeout(HEADER_TIMEOUT, stream.peek(&mut beginning)).await;
    if matches!(seen, Ok(Ok(_)) if beginning == HTTP2) {
        return reject_http2(stream, grpc_at).await;
    }
    let routes = ServiceBuilder::new()
        .map_request(move |request: Request<Incoming>| {
            has_asked.store(true, Relaxed);
            request
        })
        .service(routes);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .max_buf_size(MAX_HEADERS)
        .keep_alive(false)
        .serve_connection(TokioIo::new(StrictFraming::new(stream)), TowerToHyperService::new(routes));
    let _ = connection.await;
}

/// Rejects a client of HTTP/2, most likely one of gRPC, with a response that such clients display.
async fn reject_http2(mut stream: TcpStream, grpc_at: Option<SocketAddr>) {
    let grpc = grpc_at.map_or_else(String::new, |at| format!(" gRPC is spoken on port {}.", at.port()));
    let text = format!("This is the admin port, which speaks HTTP/1.1 only.{grpc}\n");
    let answer = format!(
        "HTTP/1.1 505 HTTP Version Not Supported\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {}\r\n\
         connection: close\r\n\r\n{text}",
        text.len()
    );
    if stream.write_all(answer.as_bytes()).await.is_ok() && stream.shutdown().await.is_ok() {
        // Closing with unread input would reset the connection, and the answer might be lost.
        let _ = copy(&mut stream.take(MAX_HEADERS as u64), &mut sink()).await;
    }
}

fn routes(known: AdminState, boundary: Boundary) -> Router {
    Router::new()
        .route("/metrics", get(metrics))
        .route("/healthz", get(async || "alive\n"))
        .route("/readyz", get(ready))
        .fallback(async || (StatusCode::NOT_FOUND, OVERVIEW))
        .layer(from_fn_with_state(boundary, check_boundary))
        .with_state(known)
}

/// Refuses requests that do not name this server, that a page of another origin makes, or that expect something, as the
/// HTTP listener does. HTTP/1.0 needs no host.
async fn check_boundary(State(boundary): State<Boundary>, request: Request, next: Next) -> Response {
    let may_be_nameless = request.version() < Version::HTTP_11
        && !request.headers().contains_key(header::HOST)
        && !request.headers().contains_key(header::ORIGIN);
    let page = boundary.page(request.uri(), request.headers(), false);
    match page {
        Err(Foreign::Host(BadHost::Malformed)) if !may_be_nameless => {
            return (StatusCode::BAD_REQUEST, "a request names one host\n").into_response();
        }
        Err(Foreign::Host(BadHost::Foreign)) => return (StatusCode::FORBIDDEN, FOREIGN_HOST).into_response(),
        Err(Foreign::Origin) => return (StatusCode::FORBIDDEN, FOREIGN_ORIGIN).into_response(),
        Ok(_) | Err(Foreign::Host(BadHost::Malformed)) => {}
    }
    if !expect::can_be_met(request.headers()) {
        return (StatusCode::EXPECTATION_FAILED, "no expectation is met\n").into_response();
    }
    next.run(request).await
}

async fn metrics(State(known): State<AdminState>) -> Response {
    let Some(scrape) = known.scrape else {
        return (StatusCode::NOT_FOUND, "this process does not count\n").into_response();
    };
    match scrape.text() {
        Ok(text) => ([(header::CONTENT_TYPE, TEXT_FORMAT)], text).into_response(),
        Err(error) => {
            tracing::error!(%error, "admin: the metrics cannot be written");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

async fn ready(State(known): State<AdminState>) -> (StatusCode, &'static str) {
    if known.draining.is_cancelled() {
        return (StatusCode::SERVICE_UNAVAILABLE, "draining\n");
    }
    match *known.ready.borrow() {
        Readiness::Ready => (StatusCode::OK, "ready\n"),
        Readiness::Degraded => (StatusCode::OK, "ready\ndegraded: state\n"),
        Readiness::NotReady => {
            (StatusCode::SERVICE_UNAVAILABLE, "the state cannot be written: see the log\n")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An endpoint of a process that does not count, and what makes it drain.
    async fn start() -> (SocketAddr, CancellationToken) {
        let (address, draining, _) = start_told().await;
        (address, draining)
    }

    /// The same, and who tells it whether the state can be written.
    async fn start_told() -> (SocketAddr, CancellationToken, watch::Sender<Readiness>) {
        let admin = Admin::bind("127.0.0.1:0".parse().unwrap(), None).await.unwrap();
        let (address, draining) = (admin.address().unwrap(), CancellationToken::new());
        let (teller, ready) = watch::channel(Readiness::Ready);
        tokio::spawn(admin.serve(draining.clone(), ready));
        (address, draining, teller)
    }

    /// The first line and the body of what it answers.
    async fn ask(address: SocketAddr, request: &str) -> (String, String) {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.lines().next().unwrap().to_owned(), body.to_owned())
    }

    async fn get(address: SocketAddr, path: &str) -> (String, String) {
        ask(address, &format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n")).await
    }

    #[tokio::test]
    async fn it_is_ready_until_it_drains_and_alive_for_longer() {
        let (address, draining) = start().await;
        assert_eq!(get(address, "/readyz").await, ("HTTP/1.1 200 OK".into(), "ready\n".into()));
        draining.cancel();
        let unavailable = ("HTTP/1.1 503 Service Unavailable".into(), "draining\n".into());
        assert_eq!(get(address, "/readyz").await, unavailable);
        assert_eq!(get(address, "/healthz").await, ("HTTP/1.1 200 OK".into(), "alive\n".into()));
    }

    #[tokio::test]
    async fn it_is_not_ready_while_the_state_cannot_be_written() {
        let (address, _draining, teller) = start_told().await;
        teller.send_replace(Readiness::Degraded);
        assert_eq!(
            get(address, "/readyz").await,
            ("HTTP/1.1 200 OK".into(), "ready\ndegraded: state\n".into())
        );
        teller.send_replace(Readiness::NotReady);
        let (status, body) = get(address, "/readyz").await;
        assert_eq!(status, "HTTP/1.1 503 Service Unavailable");
        assert!(body.contains("the state cannot be written"), "{body}");
        teller.send_replace(Readiness::Ready);
        assert_eq!(get(address, "/readyz").await.1, "ready\n");
    }

    #[tokio::test]
    async fn anything_else_is_not_found_and_says_what_there_is() {
        let (address, _draining) = start().await;
        for path in ["/", "/metric", "/metrics/../../etc/passwd"] {
            assert_eq!(
                get(address, path).await,
                ("HTTP/1.1 404 Not Found".into(), OVERVIEW.into()),
                "{path}"
            );
        }
        let (status, _) =
            ask(address, "POST /metrics HTTP/1.1\r\nhost: [::1]\r\ncontent-length: 0\r\n\r\n").await;
        assert_eq!(status, "HTTP/1.1 405 Method Not Allowed");
    }

    #[tokio::test]
    async fn requests_that_can_be_read_in_two_ways_are_refused() {
        let (address, _draining) = start().await;
        for head in [
            "GET /healthz HTTP/1.1\nhost: a\n",
            "GET /healthz HTTP/1.1\r\nhost: a\n",
            "GET /healthz HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\ntransfer-encoding: chunked",
            "GET /healthz HTTP/1.1\r\nhost: a\r\ntransfer-encoding: gzip, chunked",
            "GET /healthz HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\ncontent-length: 0",
            "GET /healthz HTTP/1.1\r\nhost: a:b",
            "GET /healthz HTTP/1.1\r\nhost: a\r\nhost: a",
            "GET http://b/healthz HTTP/1.1\r\nhost: a",
            "GET /healthz HTTP/1.1",
        ] {
            let (status, _) = ask(address, &format!("{head}\r\n\r\n")).await;
            assert_eq!(status, "HTTP/1.1 400 Bad Request", "{head:?}");
        }
        let unmet = "GET /healthz HTTP/1.1\r\nhost: [::1]\r\nexpect: 200-ok\r\n\r\n";
        assert_eq!(ask(address, unmet).await.0, "HTTP/1.1 417 Expectation Failed");
        let old = "GET /healthz HTTP/1.0\r\n\r\n";
        assert_eq!(ask(address, old).await.0, "HTTP/1.0 200 OK");
    }

    #[tokio::test]
    async fn foreign_hosts_and_pages_are_forbidden() {
        let (address, _draining) = start().await;
        for headers in [
            "host: evil.example",
            "host: 127.0.0.1.nip.io:9464",
            "host: localhost\r\norigin: https://evil.example",
            "host: localhost\r\norigin: null",
        ] {
            for path in ["/metrics", "/healthz", "/readyz", "/"] {
                let (status, _) = ask(address, &format!("GET {path} HTTP/1.1\r\n{headers}\r\n\r\n")).await;
                assert_eq!(status, "HTTP/1.1 403 Forbidden", "{path} {headers}");
            }
        }
        for headers in
            ["host: 10.0.0.7:9464", "host: [::1]", "host: localhost:1\r\norigin: http://localhost:1"]
        {
            let (status, _) = ask(address, &format!("GET /healthz HTTP/1.1\r\n{headers}\r\n\r\n")).await;
            assert_eq!(status, "HTTP/1.1 200 OK", "{headers}");
        }
    }

    #[tokio::test]
    async fn a_client_of_grpc_is_told_which_port_this_is() {
        let admin = Admin::bind("127.0.0.1:0".parse().unwrap(), None).await.unwrap();
        let (address, (_teller, ready)) = (admin.address().unwrap(), watch::channel(Readiness::Ready));
        let admin = admin.beside(Some(([127, 0, 0, 1], 50_051).into()));
        tokio::spawn(admin.serve(CancellationToken::new(), ready));
        let (status, body) = ask(address, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await;
        assert_eq!(status, "HTTP/1.1 505 HTTP Version Not Supported");
        assert!(body.contains("the admin port") && body.contains("gRPC is spoken on port 50051."), "{body}");
    }

    #[tokio::test]
    async fn headers_without_an_end_are_refused() {
        let (address, _draining) = start().await;
        let request = format!("GET /healthz HTTP/1.1\r\nx: {}\r\n\r\n", "x".repeat(2 * MAX_HEADERS));
        let mut stream = TcpStream::connect(address).await.unwrap();
        // The server may close before it has read everything.
        let _ = stream.write_all(request.as_bytes()).await;
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        assert!(!answer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer));
    }

    #[tokio::test]
    async fn silent_peers_hold_nobody_up() {
        let (address, _draining) = start().await;
        let mut silent = Vec::new();
        for _ in 0..3 * MAX_CONNECTIONS {
            silent.push(TcpStream::connect(address).await.unwrap());
            let mut half = TcpStream::connect(address).await.unwrap();
            half.write_all(b"GET /healthz HTTP/1.1\r\nhost:").await.unwrap();
            silent.push(half);
        }
        let answer = timeout(HEADER_TIMEOUT, get(address, "/healthz")).await;
        assert_eq!(answer.expect("no silent peer has to be waited for").1, "alive\n");
    }

    #[tokio::test]
    async fn an_address_in_use_says_so() {
        let (address, _draining) = start().await;
        let error = Admin::bind(address, None).await.unwrap_err().to_string();
        assert!(error.contains(&address.to_string()) && error.contains("--admin"), "{error}");
    }
}
