//! Trust domains as files have them, and the users that their workloads are by JWT-SVIDs.

use std::{fs, sync::Arc};

use tempfile::TempDir;
use toolwire_tool::context::{Grant, KnownBy, User};

use super::{CORP, RILEY, auth, loaded, user};
use crate::{Right, RuleTarget, print};

const AGENT: &str = "spiffe://example.org/ns/shop/sa/agent";
const ENTRY: &str =
    "[[auth.spiffe]]\nid = 'spiffe://example.org/ns/*/sa/agent'\nuser = 'agent'\ngroups = ['agents']\n";

fn domain(name: &str, rest: &str) -> String {
    format!("[[auth.trust_domains]]\nname = '{name}'\naudience = ['toolwire']\n{rest}\n")
}

/// The trust domain with keys at an address.
fn example() -> String {
    domain("example.org", "jwks_url = 'https://spire.example/keys'")
}

/// The user that the agent is by a token of these settings.
fn agent(file: &str) -> User {
    let acceptance = Some(auth(file).trust_domains[0].acceptance(&["toolwire".to_owned()]));
    let grant = Grant { groups: vec!["agents".to_owned()], scopes: Vec::new(), ends_at: None, acceptance };
    let agent = User { grant: Some(Arc::new(grant)), svid: Some(AGENT.into()), ..user("agent", &[], &[]) };
    agent.with_known_by(KnownBy::JwtSvid)
}

#[test]
fn a_trust_domain_is_printed_with_its_defaults_and_needs_no_certificates() {
    let loaded = loaded(&format!("{}{ENTRY}", example())).unwrap();
    assert_eq!(loaded.warnings, []);
    assert!(!loaded.config.auth.is_open() && !loaded.config.has_ambient_credentials());
    let printed = print(&loaded);
    for line in [
        "[[auth.trust_domains]]",
        "name = \"example.org\"",
        "algorithms = [\"RS256\",\"ES256\",\"ES384\"]",
        "max_life = \"100m\"",
        "jwks_url = \"https://spire.example/keys\"",
    ] {
        assert!(printed.contains(line), "{line} in {printed}");
    }
    assert!(super::loaded(&printed).is_ok(), "{printed}");
}

#[test]
fn a_wrong_trust_domain_is_refused_with_what_to_write() {
    let bundle = TempDir::new().unwrap();
    let path = bundle.path().join("bundle.json");
    let of_x509 = r#"{"keys": [{"kty": "OKP", "crv": "Ed25519", "kid": "k", "use": "x509-svid",
                      "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#;
    fs::write(&path, of_x509).unwrap();
    let keys = "jwks_url = 'https://spire.example/keys'";
    for (file, words) in [
        (domain("spiffe://example.org", keys), "name must be a trust domain such as example.org"),
        (domain("example.org/agent", keys), "name must be a trust domain"),
        (domain("Example.org", keys), "name must be a trust domain"),
        (domain("ex\u{430}mple.org", keys), "name must be a trust domain"),
        (domain("", keys), "name must be a trust domain"),
        (domain("*", keys), "name must be a trust domain"),
        (format!("{}{}", example(), example()), "name is that of an earlier entry"),
        (
            domain("example.org", ""),
            "jwks_file is missing; add it, with the trust domain's bundle, or jwks_url",
        ),
        (domain("example.org", &format!("{keys}\njwks_file = 'a'")), "jwks_url or jwks_file, not both"),
        (domain("example.org", "jwks_url = 'http://spire.example/keys'"), "jwks_url must be https://"),
        (domain("example.org", "jwks_file = '/nowhere/bundle.json'"), "/nowhere/bundle.json cannot be read"),
        (domain("example.org", &format!("jwks_file = '{}'", path.display())), "`use` jwt-svid"),
        (domain("example.org", &format!("{keys}\nalgorithms = ['EdDSA']")), "no JWT-SVID is signed by EdDSA"),
        (domain("example.org", &format!("{keys}\nalgorithms = ['HS256']")), "algorithms must be of RS256"),
        (domain("example.org", &format!("{keys}\nmax_life = '0s'")), "max_life must be more than zero"),
        (domain("example.org", &format!("{keys}\ngroups = 'groups'")), "unknown setting"),
        (example().replace("['toolwire']", "[]"), "audience must name at least one"),
        (example().replace("audience = ['toolwire']\n", ""), "audience is missing"),
        (example().replace("name = 'example.org'\n", ""), "name is missing"),
    ] {
        let error = loaded(&format!("{file}{ENTRY}")).unwrap_err();
        assert!(error.contains(words), "{file}: {error}");
        assert!(error.contains(": auth.trust_domains."), "{file}: {error}");
        // What is of an entry that cannot be used is no further problem.
        assert!(!error.contains("no client is asked"), "{file}: {error}");
    }
}

#[test]
fn a_workload_needs_a_certificate_or_a_trust_domain_that_signs_its_tokens() {
    let other = ENTRY.replace("example.org", "example.com");
    let error = loaded(&format!("{}{ENTRY}{}", example(), other.replace("agent", "other"))).unwrap_err();
    let words = "for JWT-SVIDs, add [[auth.trust_domains]] with the name example.com";
    assert!(error.contains("no client is asked for a certificate") && error.contains(words), "{error}");
    // No user and no host would have such a token.
    let [warning] = &loaded(&format!("{RILEY}{}", example())).unwrap().warnings[..] else { panic!("one") };
    assert!(warning.what.contains("is of example.org: its tokens prove no user and no host"), "{warning}");
}

#[test]
fn an_audience_of_a_toolset_that_there_is_not_is_refused() {
    let file = format!("[http]\npublic_url = 'https://tools.example'\n{}{ENTRY}", example());
    let error = loaded(&file.replace("'toolwire'", "'https://tools.example/mcp/shop'")).unwrap_err();
    assert!(error.contains("auth.trust_domains: audience https://tools.example/mcp/shop binds"), "{error}");
}

#[test]
fn rules_for_a_workload_are_for_its_token_and_via_is_for_certificates_alone() {
    let rule = |rest: &str| format!("[[auth.rules]]\ntools = ['shop_*']\n{rest}\n");
    let workload = "who = ['spiffe:example.org/ns/*/sa/agent']";
    for (who, is_allowed) in
        [(workload, true), ("who = ['group:agents']", true), ("who = ['user:agent']", true)]
    {
        let file = format!("{}{ENTRY}{}", example(), rule(who));
        let may = |user: &User| auth(&file).may(user, Right::Call, RuleTarget::named("shop_list"));
        assert_eq!(may(&agent(&file)), is_allowed, "{who}");
    }
    let file = format!("{CORP}{}{ENTRY}{}", example(), rule(workload));
    let may = |user: User| auth(&file).may(&user, Right::Call, RuleTarget::named("shop_list"));
    let other = User { svid: Some("spiffe://example.org/ns/shop/sa/other".into()), ..agent(&file) };
    assert!(!may(other));
    // Its own id counts, and not that of the peer that brings the token.
    let peer = User { workload: Some("spiffe://example.org/gateway".into()), ..agent(&file) };
    assert!(may(peer.clone()));
    let of_issuer = User { workload: Some(AGENT.into()), ..user("corp:1", &[], &[]) };
    assert!(!may(of_issuer.with_known_by(KnownBy::Issuer)));
    let via = rule("who = ['group:agents']\nvia = ['spiffe:example.org/ns/*/sa/agent']");
    let tls = "[auth]\ntrusted_proxies = ['::1']\n";
    let file = format!("{tls}{}{ENTRY}{via}", example());
    let may = |user: User| auth(&file).may(&user, Right::Call, RuleTarget::named("shop_list"));
    assert!(!may(agent(&file)), "no certificate brought it");
    assert!(!may(peer), "another one brought it");
    assert!(may(User { workload: Some(AGENT.into()), ..agent(&file) }));
}

#[test]
fn a_workload_is_known_while_its_trust_domain_and_its_entry_are_as_they_were() {
    let file = format!("{}{ENTRY}", example());
    let agent = agent(&file);
    for (changed, is_known) in [
        (file.clone(), true),
        (format!("{file}{RILEY}"), true),
        (file.replace("['toolwire']", "['more', 'toolwire']"), true),
        (file.replace("['agents']", "['agents', 'more']"), true),
        (file.replace("['toolwire']", "['more']"), false),
        (file.replace("/keys", "/bundle"), false),
        (file.replace("jwks_url", "max_life = '2h'\njwks_url"), false),
        (file.replace("'example.org'", "'example.net'").replace("//example.org/", "//example.net/"), false),
        (file.replace("['agents']", "['more']"), false),
        (file.replace("user = 'agent'", "user = 'other'"), false),
        (file.replace("/sa/agent", "/sa/other"), false),
    ] {
        assert_eq!(auth(&changed).knows(&agent), is_known, "{changed}");
    }
    // An issuer of the same name and with the same settings accepts none of its tokens, and the reverse.
    let keys = "algorithms = ['ES256']\njwks_url = 'https://spire.example/keys'";
    let both =
        auth(&format!("{CORP}{keys}\n{}{}", domain("corp", keys), ENTRY.replace("example.org", "corp")));
    let (issuer, domain) = (&both.issuers[0], &both.trust_domains[0]);
    assert!(!issuer.still_accepts(&domain.acceptance(&[])) && !domain.still_accepts(&issuer.acceptance(&[])));
}

#[test]
fn trust_domains_that_differ_are_told_by_name() {
    let (with, without) = (format!("{}{ENTRY}", example()), RILEY);
    assert_eq!(
        auth(&with).changes_since(&auth(without)),
        [
            "user removed: riley",
            "trust domain added: example.org",
            "workload added: spiffe://example.org/ns/*/sa/agent"
        ]
    );
    let changed = auth(&with.replace("/keys", "/bundle")).changes_since(&auth(&with));
    assert_eq!(changed, ["trust domain changed: example.org"]);
}
