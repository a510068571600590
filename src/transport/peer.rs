//! The remote end of a connection, as the layers see it.

use std::{net::SocketAddr, sync::Arc};

use tokio_util::sync::CancellationToken;

use super::{connections::ConnectionState, quotas::Origin, requests::Requests};
use toolwire_identity::Workload;

/// The remote end of a connection, in the extensions of each of its requests.
#[derive(Debug, Clone)]
pub struct Peer {
    pub address: SocketAddr,
    pub is_encrypted: bool,
    /// The address of the HTTP listener, if there is one.
    pub(super) http_at: Option<SocketAddr>,
    /// Cancelled when watches on this connection must end.
    pub(super) watches_end: CancellationToken,
    pub(super) state: Arc<ConnectionState>,
    /// What the client's certificate proves; `None` without one.
    pub(super) certified: Option<Arc<Workload>>,
    /// The requests in flight; `None` on a connection that is not closed when idle.
    pub(super) requests: Option<Arc<Requests>>,
}

impl Peer {
    pub(super) fn new(address: SocketAddr, is_encrypted: bool, state: Arc<ConnectionState>) -> Self {
        let watches_end = CancellationToken::new();
        Self { address, is_encrypted, http_at: None, watches_end, state, certified: None, requests: None }
    }

    /// A peer without a connection, for tests of layers.
    #[cfg(test)]
    pub(crate) fn stranger(address: SocketAddr) -> Self {
        let backlog = toolwire_base::backlog::Backlog::default().connection();
        let state = ConnectionState::new(Some(address.ip().into()), toolwire_base::clock::now(), backlog);
        Self::new(address, false, Arc::new(state))
    }

    /// The origin whose limits apply; `None` for a trusted peer.
    pub(super) fn origin(&self) -> Option<Origin> {
        self.state.origin
    }

    pub(super) fn set_authenticated(&self) {
        self.state.set_authenticated();
    }
}
