//! One TCP connection, from its first byte to its end: TLS if it is configured, the preface, the protocol, closing by
//! age, idleness or drain, and a bounded time for the last calls.

use std::{io, net::SocketAddr, sync::Arc};

use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::{Instant, timeout, timeout_at},
};

use self::lifecycle::ConnectionLifecycle;
pub(super) use self::lifecycle::Layers;
use super::{
    Config,
    connections::ConnectionState,
    limits::Limit,
    peer::Peer,
    preface::{self, Opening, OtherProtocol, Protocol},
    requests::Requests,
    signals::Signals,
    socket::Stream,
    tls::{self, Tls, TlsOrPlain},
};
use toolwire_base::clock;
use toolwire_identity::Workload;

mod abandoned_body;
mod http1;
mod http2;
mod lifecycle;
mod request_body;

pub(super) struct Connection<S> {
    pub(super) address: SocketAddr,
    pub(super) service: S,
    pub(super) config: Arc<Config>,
    pub(super) tls: Option<Tls>,
    pub(super) signals: Arc<Signals>,
    pub(super) state: Arc<ConnectionState>,
    /// What the client's certificate proves, once one is verified.
    pub(super) certified: Option<Arc<Workload>>,
}

impl<S: Layers> Connection<S> {
    /// Serves the connection until it ends or is dropped by force.
    pub(super) async fn run(self, stream: impl Stream) {
        let address = self.address;
        let (forced, state) = (self.signals.forced.clone(), Arc::clone(&self.state));
        tokio::select! {
            // First, so that data that is ready is still sent.
            biased;
            () = self.serve(stream) => {}
            () = forced.cancelled() => tracing::debug!(%address, "connection dropped by force"),
            () = state.closed.cancelled() => {
                tracing::debug!(%address, "connection closed to make room: no request on it authenticated");
            }
            () = state.backlog.closed() => {
                Limit::UnreadConnection.exceeded("bytes that wait for their reader: a connection was closed", &address);
            }
        }
    }

    async fn serve(mut self, stream: impl Stream) {
        let (address, bound) = (self.address, self.config.limits.preface_timeout);
        // One deadline for both the handshake and the preface.
        let by = clock::now() + bound;
        let Some(tls) = &self.tls else { return self.serve_by_preface(stream, by).await };
        match timeout_at(by, tls.accept(stream)).await {
            Ok(Ok(TlsOrPlain::Encrypted(stream))) => {
                self.certified = tls::workload(stream.get_ref().1).map(Arc::new);
                self.serve_by_preface(stream, by).await;
            }
            Ok(Ok(TlsOrPlain::Plain(stream))) => {
                tracing::info!(%address, "connection closed: a client without TLS on a port that speaks it");
                let _ = timeout(bound, tls::reject_plain(stream)).await;
            }
            Ok(Err((error, _))) if is_lost(&error) => {
                tracing::debug!(%address, "connection lost before its first bytes");
            }
            Ok(Err((error, stream))) => {
                let reason = tls::refusal_word(&error);
                tracing::info!(%address, reason, %error, "connection closed: the TLS handshake failed");
                // The client learns the reason from the alert, which a reset would destroy.
                let _ = timeout(bound, preface::close(stream)).await;
            }
            Err(_) => tracing::debug!(%address, ?bound, "connection closed: no TLS handshake in time"),
        }
    }

    /// Reads the preface, which determines the protocol, and serves it.
    async fn serve_by_preface<T: AsyncRead + AsyncWrite + Send + Unpin + 'static>(
        self,
        stream: T,
        by: Instant,
    ) {
        let (address, bound) = (self.address, self.config.limits.preface_timeout);
        match timeout_at(by, preface::read(stream)).await {
            Ok(Ok(Opening::Http2(stream))) => http2::serve(self.into_lifecycle(), stream).await,
            Ok(Ok(Opening::Other(other))) => self.serve_other(other).await,
            Ok(Err(error)) => tracing::debug!(%address, %error, "connection lost before its first bytes"),
            Err(_) => tracing::debug!(%address, ?bound, "connection closed: no HTTP/2 preface in time"),
        }
    }

    /// Serves HTTP/1 if this listener speaks it, and rejects other protocols.
    async fn serve_other<T>(self, other: OtherProtocol<T>)
    where
        T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        if let (Some(limits), Protocol::Text) = (self.config.protocols.http_limits(), other.protocol) {
            // Boxed, so that connections of other protocols do not pay for the size of this future.
            return Box::pin(http1::serve(self.into_lifecycle(), other, limits)).await;
        }
        let http1_at = self.config.protocols.http_at();
        log_other_protocol(self.address, &other);
        // The result is ignored: the connection ends in any case.
        let _ = timeout(self.config.limits.preface_timeout, other.reject_by_protocol(http1_at)).await;
    }

    /// The lifecycle of the connection once its protocol is known.
    fn into_lifecycle(self) -> ConnectionLifecycle<S> {
        let Self { address, service, config, tls, signals, state, certified } = self;
        let tracks_requests = config.protocols.http_limits().is_some();
        let requests = tracks_requests.then(|| Arc::new(Requests::new(signals.draining.clone())));
        let http_at = config.protocols.http_at();
        let peer = Peer { http_at, certified, requests, ..Peer::new(address, tls.is_some(), state) };
        ConnectionLifecycle { service, peer, config, signals }
    }
}

fn is_lost(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset)
}

fn log_other_protocol<T>(address: SocketAddr, other: &OtherProtocol<T>) {
    match other.protocol {
        // Logged at a higher level: the configuration of the client or of this server is wrong.
        Protocol::Tls => tracing::info!(
            %address,
            "connection closed: a TLS client on a port without TLS; use http:// or configure [server.tls]"
        ),
        protocol => tracing::debug!(%address, ?protocol, "connection closed: not HTTP/2"),
    }
}

#[cfg(test)]
mod tests;
