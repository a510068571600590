//! The DNS resolvers of clients whose names an operator configured: they may lead into this network, but not to a
//! link-local address or a metadata service.
//!
//! Not here: addresses written out as such, which are never resolved.

use std::{
    error::Error,
    net::SocketAddr,
    pin::Pin,
    task::{Context, Poll},
    vec,
};

use hyper_util::client::legacy::connect::dns;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tokio::net::lookup_host;
use tower::Service;

use crate::is_link_local_or_metadata;

type BoxError = Box<dyn Error + Send + Sync>;

/// Asks the system for addresses and leaves out those that are link-local or of metadata services.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NoMetadata;

/// The same for the connections of gRPC clients.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lookup;

/// Resolves the name of the proxy as an operator's, and all others as the client does. The names that are asked for
/// through the proxy do not come here.
pub(crate) struct ProxyOr<R> {
    proxy: String,
    other: R,
}

/// A name leads to addresses alone that are link-local or of metadata services.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the name leads to a link-local address or a metadata service")]
struct Metadata;

impl<R> ProxyOr<R> {
    pub(crate) fn new(proxy: &str, other: R) -> Self {
        Self { proxy: proxy.to_owned(), other }
    }
}

impl Resolve for NoMetadata {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move { Ok(Box::new(addresses(name.as_str()).await?) as Addrs) })
    }
}

impl<R: Resolve> Resolve for ProxyOr<R> {
    fn resolve(&self, name: Name) -> Resolving {
        let is_proxy = name.as_str().eq_ignore_ascii_case(&self.proxy);
        if is_proxy { NoMetadata.resolve(name) } else { self.other.resolve(name) }
    }
}

impl Service<dns::Name> for Lookup {
    type Response = vec::IntoIter<SocketAddr>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: dns::Name) -> Self::Future {
        Box::pin(async move { addresses(name.as_str()).await })
    }
}

async fn addresses(name: &str) -> Result<vec::IntoIter<SocketAddr>, BoxError> {
    let found: Vec<SocketAddr> = lookup_host((name, 0)).await?.collect();
    let may = |address: &&SocketAddr| !is_link_local_or_metadata(address.ip());
    let allowed: Vec<_> = found.iter().filter(may).copied().collect();
    if allowed.is_empty() && !found.is_empty() { Err(Metadata.into()) } else { Ok(allowed.into_iter()) }
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

    #[tokio::test]
    async fn the_name_of_the_proxy_alone_is_resolved_as_an_operators() {
        struct Nowhere;

        impl Resolve for Nowhere {
            fn resolve(&self, _name: Name) -> Resolving {
                Box::pin(async { Err("nowhere".into()) })
            }
        }

        let resolver = ProxyOr::new("localhost", Nowhere);
        assert!(resolver.resolve("LocalHost".parse().unwrap()).await.is_ok());
        assert!(resolver.resolve("localhost.example".parse().unwrap()).await.is_err());
    }
}
