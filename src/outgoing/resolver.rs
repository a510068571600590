//! The DNS resolver of clients whose names an operator configured: they may lead into this network, but not to a
//! link-local address or a metadata service.
//!
//! Not here: addresses written out as such, which are never resolved.

use std::net::SocketAddr;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tokio::net::lookup_host;

use crate::is_link_local_or_metadata;

/// Asks the system for addresses and leaves out those that are link-local or of metadata services.
#[derive(Clone, Copy, Debug)]
pub struct NoMetadata;

/// A name leads to addresses alone that are link-local or of metadata services.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the name leads to a link-local address or a metadata service")]
struct Metadata;

impl Resolve for NoMetadata {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found: Vec<SocketAddr> = lookup_host((name.as_str(), 0)).await?.collect();
            let may = |address: &&SocketAddr| !is_link_local_or_metadata(address.ip());
            let allowed: Vec<_> = found.iter().filter(may).copied().collect();
            if allowed.is_empty() && !found.is_empty() {
                return Err(Metadata.into());
            }
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_name_leads_to_no_metadata_service() {
        // The system's resolver takes it for an address; one in a URL is spelled out before it comes here.
        let Err(error) = NoMetadata.resolve("169.254.43518".parse().unwrap()).await else {
            panic!("refused")
        };
        assert!(error.is::<Metadata>(), "{error}");
        for name in ["localhost", "10.1"] {
            assert!(NoMetadata.resolve(name.parse().unwrap()).await.is_ok(), "{name}");
        }
    }
}
