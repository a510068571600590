//! How connections leave this process. The one place where a client is built.

use std::sync::Arc;

use reqwest::{Client, ClientBuilder, dns::Resolve, redirect, retry};
use rustls::crypto::ring as provider;

use crate::{
    Authorities, Bypass, ClientCertificate, Connector, ProxyAddress,
    proxy::Proxy,
    resolver::{NoMetadata, ProxyOr},
};

/// How connections leave this process: by a proxy or directly, and whom they trust. Cheap to clone; the default is
/// directly, trusting the system's authorities.
#[derive(Clone, Debug, Default)]
pub struct Egress {
    proxy: Option<Arc<Proxy>>,
    authorities: Option<Authorities>,
}

/// Which certificates a server may present.
#[derive(Clone, Debug)]
pub enum Trust {
    /// None: the client is for plain connections. Nothing is read, since a machine without any need has no
    /// certificates.
    Nothing,
    /// Those of the authorities of the system, and of those that are configured for all connections.
    System,
    /// Those of these authorities alone.
    Only(Authorities),
}

impl Trust {
    /// The system's authorities for secure connections.
    pub fn for_secure(is_secure: bool) -> Self {
        if is_secure { Self::System } else { Self::Nothing }
    }
}

impl Egress {
    /// The same, but by a proxy, except for what goes past it and for this machine.
    #[must_use]
    pub fn with_proxy(self, address: ProxyAddress, bypassed: &[Bypass]) -> Self {
        Self { proxy: Some(Arc::new(Proxy::new(address, bypassed))), ..self }
    }

    /// The same, trusting these authorities beside the system's.
    #[must_use]
    pub fn with_authorities(self, authorities: Authorities) -> Self {
        Self { authorities: Some(authorities), ..self }
    }

    /// The authorities that are trusted beside the system's.
    pub fn authorities(&self) -> Option<&Authorities> {
        self.authorities.as_ref()
    }

    /// A client that follows no redirect unless its user says so, and reaches no link-local address or metadata
    /// service.
    pub fn builder(&self, trust: Trust) -> ClientBuilder {
        self.builder_resolving(trust, NoMetadata)
    }

    /// The same, and presents the certificate, if there is one, to a server that asks.
    pub fn builder_presenting(&self, trust: Trust, certificate: Option<&ClientCertificate>) -> ClientBuilder {
        let builder = self.builder(trust);
        match certificate {
            Some(certificate) => certificate.present(builder),
            None => builder,
        }
    }

    /// The same as [`Self::builder`], with a resolver of its own for the names of servers that are not behind the
    /// proxy.
    pub fn builder_resolving(&self, trust: Trust, resolver: impl Resolve + 'static) -> ClientBuilder {
        // A provider may be installed already: any will do.
        let _ = provider::default_provider().install_default();
        let builder =
            Client::builder().redirect(redirect::Policy::none()).retry(retry::never()).referer(false);
        let builder = match &self.proxy {
            None => builder.no_proxy().dns_resolver(resolver),
            Some(proxy) => {
                builder.proxy(proxy.to_reqwest()).dns_resolver(ProxyOr::new(proxy.host(), resolver))
            }
        };
        match (trust, &self.authorities) {
            (Trust::Nothing, _) => builder.tls_certs_only([]),
            (Trust::System, None) => builder,
            (Trust::System, Some(also)) => builder.tls_certs_merge(also.certificates()),
            (Trust::Only(authorities), _) => builder.tls_certs_only(authorities.certificates()),
        }
    }

    /// The connections of a gRPC client, without TLS.
    pub fn connector(&self) -> Connector {
        Connector::new(self.proxy.clone())
    }
}
