//! What settings of several sections must say together where clients prove themselves by certificates.
//!
//! Browsers present certificates by themselves, and proxies their header, whichever page makes a request: the HTTP
//! listener must know its own names, or a page could reach it by another one (DNS rebinding). Not here: each setting by
//! itself.

use super::{Auth, Http, Problem, Providers, Rule, Server, reader::Reader};

/// Whether requests carry credentials that no caller wrote into them.
pub(super) fn come_by_themselves(auth: &Auth, server: &Server) -> bool {
    server.tls.clients().is_some() || !auth.trusted_proxies.is_empty()
}

/// Refuses workloads and rules that nothing could prove, and listeners without a name.
pub(super) fn check(
    reader: &mut Reader,
    (auth, providers): (&Auth, &Providers),
    server: &Server,
    http: &Http,
) {
    let come_by_themselves = come_by_themselves(auth, server);
    let of_users = auth.workloads.first().map(|_| "auth.spiffe".to_owned());
    let of_host = || providers.host_workloads().next().map(|(name, _)| format!("providers.{name}.spiffe"));
    if let Some(key) = of_users.or_else(of_host).filter(|_| !come_by_themselves) {
        let what = "no client is asked for a certificate; set client_ca and client_auth in [server.tls], or \
                    trusted_proxies in [auth]";
        reader.problem(&key, what);
    }
    let of_certified = |rule: &&Rule| !rule.via.is_empty();
    if let Some(rule) = auth.rules.iter().find(of_certified).filter(|_| !come_by_themselves) {
        let what = "via wants a certificate, and no client is asked for one; set client_ca and client_auth in \
                    [server.tls], or trusted_proxies in [auth]";
        reader.problems.push(Problem::new(rule.at.clone(), what));
    }
    let is_nameless = http.listen.is_some() && http.hosts().is_empty();
    if come_by_themselves && is_nameless && !auth.is_open() {
        let what = "must name this server, or http.public_url must, where client certificates prove users: pages could \
                    act as them by a name of their own";
        reader.problem("http.allowed_hosts", what);
    }
}
