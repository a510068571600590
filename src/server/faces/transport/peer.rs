//! The other end of a connection, as the layers see it.

use std::{net::SocketAddr, sync::Arc};

use tokio_util::sync::CancellationToken;

use super::{connections::Known, quotas::Origin, requests::Requests};

/// The other end. Stored in the extensions of every request of the connection.
#[derive(Debug, Clone)]
pub(in crate::faces) struct Peer {
    pub(in crate::faces) address: SocketAddr,
    /// Whether the connection is under TLS.
    pub(in crate::faces) is_encrypted: bool,
    /// Where HTTP is spoken, if it is on another port.
    pub(super) http_at: Option<SocketAddr>,
    /// Fires when watches on this connection are to end.
    pub(super) watches_end: CancellationToken,
    pub(super) known: Arc<Known>,
    /// What is under way, where somebody wants to know it: on a connection that is closed when nothing is.
    pub(super) requests: Option<Arc<Requests>>,
}

impl Peer {
    pub(super) fn new(address: SocketAddr, is_encrypted: bool, known: Arc<Known>) -> Self {
        let watches_end = CancellationToken::new();
        Self { address, is_encrypted, http_at: None, watches_end, known, requests: None }
    }

    /// One whose connection is none, for tests of layers.
    #[cfg(test)]
    pub(in crate::faces) fn stranger(address: SocketAddr) -> Self {
        let known = Known::new(Some(address.ip().into()), toolwire_base::clock::now());
        Self::new(address, false, Arc::new(known))
    }

    /// Where it comes from; none if it is trusted.
    pub(super) fn origin(&self) -> Option<Origin> {
        self.known.origin
    }

    pub(super) fn has_authenticated(&self) {
        self.known.authenticated();
    }
}
