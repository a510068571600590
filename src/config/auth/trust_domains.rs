//! SPIFFE trust domains whose JWT-SVIDs are accepted: `[[auth.trust_domains]]`.
//!
//! Not here: which user or provider a workload is, which its id says in `[[auth.spiffe]]` and in providers.

use super::{EntryNames, token_settings};
use crate::{fields::Fields, reader::Reader, value::Value};
use toolwire_identity::{KeyUse, TrustDomain, is_trust_domain};

pub(super) fn read_all(reader: &mut Reader) -> (Vec<TrustDomain>, EntryNames) {
    let (mut domains, mut names) = (Vec::<TrustDomain>::new(), EntryNames::default());
    for mut entry in reader.list("auth.trust_domains") {
        let (name, domain) = read(&mut entry);
        names.add(name);
        if domain.as_ref().is_some_and(|it| domains.iter().any(|other| other.name == it.name)) {
            entry.problem("name is that of an earlier entry too; make them one");
        }
        if reader.end(entry) {
            domains.extend(domain);
        }
    }
    for domain in &domains {
        let mut pairs = vec![("name", domain.name.to_toml())];
        pairs.extend(token_settings::shown(&domain.tokens));
        reader.show_entry("[[auth.trust_domains]]", &pairs);
    }
    (domains, names)
}

/// The name, and the trust domain if all of the entry can be used.
fn read(entry: &mut Fields) -> (Option<String>, Option<TrustDomain>) {
    let name = entry.required::<String>("name");
    let tokens = token_settings::read(entry, KeyUse::JwtSvid, None);
    if name.as_deref().is_some_and(|name| !is_trust_domain(name)) {
        entry.problem(
            "name must be a trust domain such as example.org, of a-z, 0-9, ., _ and -, without spiffe:// and a path",
        );
    }
    // Any trust domain may be meant by a name that is none.
    let name = name.filter(|name| is_trust_domain(name));
    let domain = name.clone().zip(tokens).map(|(name, tokens)| TrustDomain { name, tokens });
    (name, domain)
}
