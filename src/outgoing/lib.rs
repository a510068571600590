//! What every client that goes out of this process has in common: no proxy, no repeats, no redirects, certificates
//! that are verified, and no address that is link-local or of a metadata service.
//!
//! Internal to Toolwire: no promise is made to other crates. Not here: what is sent, and how long it may take.

mod address;
mod resolver;

use std::{error::Error, iter};

use reqwest::{Certificate, ClientBuilder, redirect, retry};
use rustls::crypto::ring as provider;

pub use self::{
    address::{is_link_local_or_metadata, names_link_local_or_metadata},
    resolver::NoMetadata,
};

/// Which certificates a server may present.
#[derive(Clone, Debug)]
pub enum Trust {
    /// None: the client is for plain connections. Nothing is read, since a machine without any need has no
    /// certificates.
    Nothing,
    /// Those of the authorities of the system.
    System,
    /// Those of these authorities alone.
    Only(Vec<Certificate>),
}

impl Trust {
    /// The system's authorities for secure connections.
    pub fn for_secure(is_secure: bool) -> Self {
        if is_secure { Self::System } else { Self::Nothing }
    }

    /// The authorities of a PEM file alone; `None` if it holds no certificate.
    pub fn in_pem(pem: &[u8]) -> Option<Self> {
        let certificates = Certificate::from_pem_bundle(pem).ok()?;
        (!certificates.is_empty()).then_some(Self::Only(certificates))
    }
}

/// A client that follows no redirect unless its user says so.
pub fn builder(trust: Trust) -> ClientBuilder {
    // A provider may be installed already: any will do.
    let _ = provider::default_provider().install_default();
    let builder = reqwest::Client::builder()
        .redirect(redirect::Policy::none())
        .retry(retry::never())
        .referer(false)
        .no_proxy()
        .dns_resolver(NoMetadata);
    match trust {
        Trust::Nothing => builder.tls_certs_only([]),
        Trust::System => builder,
        Trust::Only(certificates) => builder.tls_certs_only(certificates),
    }
}

/// What an error comes from, the nearest cause first.
pub fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    iter::successors(error.source(), |&cause| cause.source())
}

/// An error's causes in words, without its own words, which name the address.
pub fn causes_of(error: &reqwest::Error) -> String {
    causes(error).map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
