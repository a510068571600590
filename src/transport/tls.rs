//! TLS for the listeners, by rustls and ring, with ALPN.
//!
//! A client without ALPN is accepted: its first bytes determine the protocol, as without TLS. A client without TLS gets
//! an answer that it can display. Not here: the time limit of a handshake, which the connection enforces.

use std::{convert::Infallible, fmt, io, sync::Arc, time::Duration};

use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt},
    time::{MissedTickBehavior, interval},
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

use self::certificate::Certificate;
pub use self::certificate::{CertificateError, Files};
pub(super) use self::clients::{refusal_word, workload};
use super::{
    preface::{self, Opening, Rejection, close},
    protocols::Protocols,
    socket::Stream,
};

mod authorities;
mod certificate;
mod clients;

/// The first byte of a TLS handshake: the record type of a `ClientHello`.
const HANDSHAKE: u8 = 0x16;
/// An empty SETTINGS frame, the first frame of every HTTP/2 server (RFC 9113 §6.5).
const SETTINGS: [u8; 9] = [0, 0, 0, 4, 0, 0, 0, 0, 0];
/// `INADEQUATE_SECURITY` (RFC 9113 §7), which gRPC clients show as `PERMISSION_DENIED`.
const INADEQUATE_SECURITY: u8 = 0xc;

/// Accepts TLS connections. Cheap to clone; clones share state.
#[derive(Clone)]
pub struct Tls {
    certificate: Arc<Certificate>,
}

pub(super) enum TlsOrPlain<S> {
    /// After a successful handshake.
    Encrypted(Box<TlsStream<S>>),
    /// Without TLS; nothing has been read.
    Plain(S),
}

impl Tls {
    /// Reads the files. They are used until [`Tls::keep_fresh`] finds new ones.
    pub fn open(files: Files, protocols: &Protocols) -> Result<Self, CertificateError> {
        Ok(Self { certificate: Arc::new(Certificate::open(files, protocols.alpn())?) })
    }

    /// Reloads changed files while it is polled. Open connections keep what they began with.
    pub async fn keep_fresh(&self, every: Duration) -> Infallible {
        let mut interval = interval(every);
        interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            interval.tick().await;
            let certificate = self.certificate.clone();
            // Reads files, which must not block the threads that serve calls.
            let _ = tokio::task::spawn_blocking(move || certificate.reload()).await;
        }
    }

    /// Performs the handshake, unless the first byte shows a client without TLS. If the peer closes the connection
    /// before, it is an error; if the handshake fails, the peer can still read the alert from the stream.
    pub(super) async fn accept<S: Stream>(&self, mut stream: S) -> Result<TlsOrPlain<S>, (io::Error, S)> {
        let mut first = [0];
        match stream.peek(&mut first).await {
            Ok(0) => return Err((io::ErrorKind::UnexpectedEof.into(), stream)),
            Ok(_) => {}
            Err(error) => return Err((error, stream)),
        }
        if first[0] != HANDSHAKE {
            return Ok(TlsOrPlain::Plain(stream));
        }
        let acceptor = TlsAcceptor::from(self.certificate.served());
        Ok(TlsOrPlain::Encrypted(Box::new(acceptor.accept(stream).into_fallible().await?)))
    }
}

/// Rejects a client without TLS in its own protocol, and closes the connection. The caller bounds the time.
pub(super) async fn reject_plain(stream: impl AsyncRead + AsyncWrite + Unpin) -> io::Result<()> {
    match preface::read(stream).await? {
        Opening::Http2(mut stream) => {
            stream.write_all(&go_away(&Rejection::WANTS_TLS.text)).await?;
            close(stream).await
        }
        Opening::Other(other) => other.reject(Rejection::WANTS_TLS).await,
    }
}

/// The frames of a server that ends a connection immediately, with `why` as debug data.
fn go_away(why: &str) -> Vec<u8> {
    let length = u8::try_from(8 + why.len()).expect("the words are few");
    let header = [0, 0, length, 7, 0, 0, 0, 0, 0];
    let last_stream_and_error = [0, 0, 0, 0, 0, 0, 0, INADEQUATE_SECURITY];
    [&SETTINGS[..], &header, &last_stream_and_error, why.as_bytes()].concat()
}

impl fmt::Debug for Tls {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Tls").field("certificate", &self.certificate).finish_non_exhaustive()
    }
}
