//! What every client that goes out of this process has in common: which proxy it uses, which certificates it trusts, no
//! repeats, no redirects, and no address that is link-local or of a metadata service.
//!
//! Internal to Toolwire: no promise is made to other crates. Not here: what is sent, and how long it may take; and the
//! command line's connection to a server, which is no way out of a server.

mod address;
mod authorities;
mod bypass;
mod causes;
mod client_certificate;
mod connector;
mod egress;
mod proxy;
mod resolver;
#[cfg(test)]
mod tests;

pub use self::{
    address::{is_link_local_or_metadata, names_link_local_or_metadata},
    authorities::{Authorities, PemError},
    bypass::{Bypass, InvalidBypass},
    causes::{causes, causes_of, is_of_unknown_authority},
    client_certificate::{ClientCertificate, ClientCertificateError},
    connector::Connector,
    egress::{Egress, Trust},
    proxy::{InvalidProxy, ProxyAddress},
};
