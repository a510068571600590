//! One TCP connection, from its first byte to its end: TLS where it is configured, preface, HTTP/2, GOAWAY by age or
//! drain, and a bounded time for the last calls.

use std::{convert::Infallible, io, net::SocketAddr, pin::pin, sync::Arc};

use bytes::Bytes;
use http::{Request, Response};
use hyper::{body::Incoming, server::conn::http2};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::{Instant, sleep, timeout, timeout_at},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tonic::body::Body;
use tower::{Service, ServiceBuilder};

use super::{
    Config,
    connections::Known,
    frames,
    late::Late,
    preface::{self, Opening, OtherProtocol, Protocol},
    shares::Origin,
    socket::Stream,
    stream::Executor,
    tls::{self, Accepted, Tls},
    write_buffer::{Io, Turns},
};
use crate::clock;

/// The other end, as the layers see it. Stored in the extensions of every request of the connection.
#[derive(Debug, Clone)]
pub(super) struct Peer {
    pub(super) address: SocketAddr,
    /// Fires when watches on this connection are to end.
    pub(super) watches_end: CancellationToken,
    known: Arc<Known>,
}

/// Signals from the server to all its connections, and the count of their streams.
#[derive(Debug, Default)]
pub(super) struct Signals {
    /// Connections are to end their watches, say GOAWAY, and close when their calls are done.
    pub(super) go_away: CancellationToken,
    /// Connections are to be dropped.
    pub(super) forced: CancellationToken,
    /// All streams in flight.
    pub(super) streams: TaskTracker,
}

impl Peer {
    pub(super) fn new(address: SocketAddr, known: Arc<Known>) -> Self {
        Self { address, watches_end: CancellationToken::new(), known }
    }

    /// One whose connection is none, for tests of layers.
    #[cfg(test)]
    pub(super) fn stranger(address: SocketAddr) -> Self {
        Self::new(address, Arc::new(Known::new(Some(address.ip().into()), clock::now())))
    }

    /// Where it comes from; none if it is trusted.
    pub(super) fn origin(&self) -> Option<Origin> {
        self.known.origin
    }

    /// Somebody showed credentials.
    pub(super) fn has_authenticated(&self) {
        self.known.authenticated();
    }
}

/// A connection that was accepted.
pub(super) struct Connection<S> {
    pub(super) address: SocketAddr,
    pub(super) service: S,
    pub(super) config: Arc<Config>,
    pub(super) tls: Option<Tls>,
    pub(super) signals: Arc<Signals>,
    pub(super) known: Arc<Known>,
}

impl<S, B> Connection<S>
where
    S: Service<Request<Body>, Response = Response<B>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: std::error::Error + Send + Sync,
{
    /// Serves the connection until it ends or is dropped by force.
    pub(super) async fn run(self, stream: impl Stream) {
        let address = self.address;
        let (forced, closed) = (self.signals.forced.clone(), self.known.closed.clone());
        tokio::select! {
            // First: what is ready leaves.
            biased;
            () = self.serve(stream) => {}
            () = forced.cancelled() => tracing::debug!(%address, "connection dropped by force"),
            () = closed.cancelled() => {
                tracing::debug!(%address, "connection closed: it never authenticated, and room is short");
            }
        }
    }

    async fn serve(self, stream: impl Stream) {
        let (address, bound) = (self.address, self.config.preface_timeout);
        // One bound for the handshake and the preface.
        let by = clock::now() + bound;
        let Some(tls) = &self.tls else { return self.serve_stream(stream, by).await };
        match timeout_at(by, tls.accept(stream)).await {
            Ok(Ok(Accepted::Encrypted(stream))) => self.serve_stream(stream, by).await,
            Ok(Ok(Accepted::Plain(stream))) => {
                tracing::info!(%address, "connection closed: a client without TLS on a port that speaks it");
                let _ = timeout(bound, tls::reject_plain(stream)).await;
            }
            Ok(Err(error)) if is_lost(&error) => {
                tracing::debug!(%address, "connection lost before its first bytes");
            }
            Ok(Err(error)) => tracing::info!(%address, %error, "connection closed: the TLS handshake failed"),
            Err(_) => tracing::debug!(%address, ?bound, "connection closed: no TLS handshake in time"),
        }
    }

    /// Serves what is spoken on a stream, after the calls on it that are ready.
    async fn serve_stream<T: AsyncRead + AsyncWrite + Send + Unpin + 'static>(self, stream: T, by: Instant) {
        Late::new(self.serve_spoken(stream, by)).await;
    }

    /// Reads the preface and serves what follows.
    async fn serve_spoken<T: AsyncRead + AsyncWrite + Send + Unpin + 'static>(self, stream: T, by: Instant) {
        let (address, bound) = (self.address, self.config.preface_timeout);
        match timeout_at(by, preface::read(stream)).await {
            Ok(Ok(Opening::Http2(stream))) => {
                Turns::new(stream, &preface::PREFACE, |io| self.serve_http2(io)).await;
            }
            Ok(Ok(Opening::Other(other))) => {
                log_other_protocol(address, &other);
                // Ignored if it fails or takes too long: the connection ends in any case.
                let _ = timeout(bound, other.reject_by_protocol()).await;
            }
            Ok(Err(error)) => tracing::debug!(%address, %error, "connection lost before its first bytes"),
            Err(_) => tracing::debug!(%address, ?bound, "connection closed: no HTTP/2 preface in time"),
        }
    }

    async fn serve_http2<T: AsyncRead + AsyncWrite + Send + Unpin + 'static>(self, io: Io<T>) {
        let Self { address, service, config, signals, known, tls: _ } = self;
        let peer = Peer::new(address, known);
        let service = with_peer(service, peer.clone());
        let builder = builder(&config, Executor { streams: signals.streams.clone() });
        let mut connection = pin!(builder.serve_connection(TokioIo::new(io), Ready(service)));

        tokio::select! {
            // First: a connection that was accepted late sends its SETTINGS before the final GOAWAY.
            biased;
            result = connection.as_mut() => return closed(address, result),
            () = signals.go_away.cancelled() => {}
            () = sleep(config.age.jittered()) => {}
        }
        peer.watches_end.cancel();
        connection.as_mut().graceful_shutdown();
        let Ok(result) = timeout(config.age.grace, connection).await else {
            return tracing::debug!(%address, "connection dropped: its grace has passed");
        };
        closed(address, result);
    }
}

/// A service in hyper's terms. Nobody asks whether it is ready: every layer here always is, and so are the servers that
/// tonic generates.
struct Ready<S>(S);

impl<S, A> hyper::service::Service<A> for Ready<S>
where
    S: Service<A> + Clone,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn call(&self, request: A) -> S::Future {
        self.0.clone().call(request)
    }
}

/// `service` between hyper's bodies and ours. Every request carries its peer.
fn with_peer<S, B>(
    service: S,
    peer: Peer,
) -> impl Service<Request<Incoming>, Response = Response<frames::Body<B>>, Error = Infallible, Future: Send> + Clone
where
    S: Service<Request<Body>, Response = Response<B>, Error = Infallible> + Clone,
    S::Future: Send,
{
    ServiceBuilder::new()
        .map_request(move |request| add_peer(request, &peer))
        .map_response(|response: Response<B>| response.map(frames::Body::new))
        .service(service)
}

/// `request` in tonic's terms, with its peer.
fn add_peer(mut request: Request<Incoming>, peer: &Peer) -> Request<Body> {
    peer.known.hear();
    request.extensions_mut().insert(peer.clone());
    request.map(Body::new)
}

fn builder(config: &Config, executor: Executor) -> http2::Builder<Executor> {
    let settings = &config.http2;
    let mut builder = http2::Builder::new(executor);
    builder
        .timer(TokioTimer::new())
        .auto_date_header(false)
        .max_concurrent_streams(settings.max_concurrent_streams)
        .initial_stream_window_size(settings.stream_window)
        .initial_connection_window_size(settings.connection_window)
        .max_header_list_size(settings.max_header_list_size)
        .max_send_buf_size(settings.max_send_buffer_size)
        .keep_alive_interval(settings.keepalive_interval)
        .keep_alive_timeout(settings.keepalive_timeout)
        .max_pending_accept_reset_streams(settings.max_pending_accept_reset_streams)
        .max_local_error_reset_streams(settings.max_local_error_reset_streams);
    builder
}

fn is_lost(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset)
}

fn log_other_protocol<T>(address: SocketAddr, other: &OtherProtocol<T>) {
    match other.protocol {
        // Somebody's configuration is wrong: theirs or ours.
        Protocol::Tls => tracing::info!(
            %address,
            "connection closed: a TLS client on a port without TLS; use http:// or configure [server.tls]"
        ),
        protocol => tracing::debug!(%address, ?protocol, "connection closed: not HTTP/2"),
    }
}

fn closed(address: SocketAddr, result: hyper::Result<()>) {
    match result {
        Ok(()) => tracing::debug!(%address, "connection closed"),
        Err(error) => tracing::debug!(%address, %error, "connection lost"),
    }
}

#[cfg(test)]
mod tests;
