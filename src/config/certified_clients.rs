//! What settings of several sections must say together where clients prove themselves by certificates, and workloads by
//! tokens.
//!
//! Browsers present certificates by themselves, and proxies their header, whichever page makes a request: the HTTP
//! listener must know its own names, or a page could reach it by another one (DNS rebinding). Not here: each setting by
//! itself.

use super::{Auth, Http, Problem, Providers, Rule, Server, auth::SignerNames, reader::Reader};
use toolwire_identity::{SpiffePattern, TrustDomain};

/// Whether requests carry credentials that no caller wrote into them.
pub(super) fn come_by_themselves(auth: &Auth, server: &Server) -> bool {
    server.tls.clients().is_some() || !auth.trusted_proxies.is_empty()
}

/// Refuses workloads and rules that nothing could prove, and listeners without a name.
pub(super) fn check(
    reader: &mut Reader,
    (auth, providers, signers): (&Auth, &Providers, &SignerNames),
    server: &Server,
    http: &Http,
) {
    let come_by_themselves = come_by_themselves(auth, server);
    let of_users = auth.workloads.iter().map(|it| ("auth.spiffe".to_owned(), &it.id));
    let of_hosts = providers.host_workloads().map(|(name, id)| (format!("providers.{name}.spiffe"), id));
    let ids: Vec<_> = of_users.chain(of_hosts).collect();
    let is_unproven =
        |id: &SpiffePattern| !come_by_themselves && !signers.trust_domains.has(id.trust_domain());
    if let Some((key, id)) = ids.iter().find(|(_, id)| is_unproven(id)) {
        let what = format!(
            "no client is asked for a certificate; set client_ca and client_auth in [server.tls], or trusted_proxies \
             in [auth], or, for JWT-SVIDs, add [[auth.trust_domains]] with the name {}",
            id.trust_domain()
        );
        reader.problem(key, what);
    }
    for TrustDomain { name, .. } in &auth.trust_domains {
        if !ids.iter().any(|(_, id)| id.trust_domain() == name) {
            let what = format!(
                "no id of [[auth.spiffe]] and no spiffe of [providers] is of {name}: its tokens prove no user and no \
                 host"
            );
            reader.warn("auth.trust_domains", what);
        }
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
