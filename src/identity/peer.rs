//! The workload that the peer of a connection has proven to be, or why it has proven none: a sentence for the peer, and
//! a word for the operator's log.
//!
//! Not here: the verification of certificates, which TLS does, and which user a workload is.

use crate::SpiffeId;

/// The workload of a peer whose certificate was verified.
pub type Workload = Result<SpiffeId, PeerRefusal>;

/// The reason for which a verified certificate proves no user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum PeerRefusal {
    #[error("the client certificate names no SPIFFE id")]
    NoSpiffeId,
    #[error("the client certificate names several URIs, and a workload has one SPIFFE id")]
    SeveralUris,
    #[error("the URI of the client certificate is no SPIFFE id")]
    NotSpiffeId,
    #[error("the client certificate is of a trust domain that this server does not know")]
    ForeignTrustDomain,
    #[error("the client certificate is of a workload that this server does not know")]
    UnknownWorkload,
    #[error("the client certificate is of a host of a provider, which calls nothing; present that of a user")]
    OfHost,
    #[error("the client certificate is of a user's workload, and of no host")]
    OfNoHost,
    #[error("the proxy's header x-forwarded-client-cert cannot be read")]
    MalformedForwarding,
}

impl PeerRefusal {
    /// The word for logs, such as `foreign_trust_domain`.
    pub fn word(self) -> &'static str {
        self.into()
    }
}

/// The workload that a certificate with these URIs names. It must name exactly one.
pub fn workload_of<'a>(uris: impl IntoIterator<Item = &'a str>) -> Workload {
    let mut uris = uris.into_iter();
    match (uris.next(), uris.next()) {
        (None, _) => Err(PeerRefusal::NoSpiffeId),
        (Some(uri), None) => uri.parse().map_err(|_| PeerRefusal::NotSpiffeId),
        (Some(_), Some(_)) => Err(PeerRefusal::SeveralUris),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_names_one_workload() {
        let id = "spiffe://example.org/agent";
        assert_eq!(workload_of([id]), Ok(id.parse().unwrap()));
        for (uris, refusal) in [
            (&[][..], PeerRefusal::NoSpiffeId),
            (&[id, id], PeerRefusal::SeveralUris),
            (&["https://example.org", id], PeerRefusal::SeveralUris),
            (&["https://example.org/agent"], PeerRefusal::NotSpiffeId),
            (&["spiffe://example.org"], PeerRefusal::NotSpiffeId),
        ] {
            assert_eq!(workload_of(uris.iter().copied()), Err(refusal), "{uris:?}");
        }
        assert_eq!(PeerRefusal::SeveralUris.word(), "several_uris");
    }
}
