//! What settings of several sections must say together where clients prove themselves by certificates.
//!
//! Browsers present certificates by themselves, and proxies their header, whichever page makes a request: the HTTP
//! listener must know its own names, or a page could reach it by another one (DNS rebinding). Not here: each setting by
//! itself.

use super::{Auth, Server, reader::Reader};

/// Refuses workloads that nothing could prove.
pub(super) fn check(reader: &mut Reader, auth: &Auth, server: &Server) {
    if !auth.workloads.is_empty() && server.tls.clients().is_none() && auth.trusted_proxies.is_empty() {
        let what = "no client is asked for a certificate; set client_ca and client_auth in [server.tls], or \
                    trusted_proxies in [auth]";
        reader.problem("auth.spiffe", what);
    }
}
