//! Proxies that end TLS for their clients, such as sidecars of a mesh, and tell whose certificates they verified.
//!
//! Their header is believed from their addresses alone. A proxy speaks for its clients: its own certificate is no
//! user's.

use std::sync::Arc;

use http::HeaderName;

use super::Credentials;
use toolwire_config::Network;
use toolwire_identity::{Workload, forwarded_workload};

/// The header by which a proxy tells of its client's certificate.
pub(super) const FORWARDED: HeaderName = HeaderName::from_static("x-forwarded-client-cert");

/// The addresses of proxies that are believed.
#[derive(Clone, Debug, Default)]
pub struct TrustedProxies(Arc<[Network]>);

impl TrustedProxies {
    pub fn new(networks: &[Network]) -> Self {
        Self(networks.into())
    }

    /// The workload that made a request: the peer, or the client of a trusted proxy. `None` without a certificate.
    pub(super) fn workload(&self, credentials: &Credentials<'_>) -> Option<Workload> {
        let is_proxy = |peer: std::net::SocketAddr| self.0.iter().any(|it| it.contains(peer.ip()));
        if !credentials.peer.is_some_and(is_proxy) {
            return credentials.certified.cloned();
        }
        // The last of all fields, which are one list.
        let last = credentials.metadata.get_all(FORWARDED).iter().next_back()?;
        Some(forwarded_workload(last.as_bytes()))
    }
}
