//! JWT-SVIDs: whom they prove, whose keys verify them, and the word for each bad one.

use std::{fs, path::Path, sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::time::advance;

use super::support::{
    ISSUER, NOW, Signer, changed, claims, corp_in, domain_in, resource, start, user, verify,
};
use crate::{Algorithm, HostClaims, Issuer, KeyUse, Principal, Refusal, Subject, TrustDomain, jwk::KeySet};

const AGENT: &str = "spiffe://example.org/ns/shop/sa/agent";

/// The claims of a good JWT-SVID, changed.
fn svid(change: &Value) -> Value {
    let usual = json!({"aud": ["toolwire"], "sub": AGENT, "iat": NOW, "exp": NOW + 300});
    changed(&usual, change)
}

/// The bundle of a trust domain with these keys.
fn bundle(keys: &[&Signer]) -> Value {
    let keys: Vec<_> = keys.iter().map(|it| changed(&it.jwk(), &json!({"use": "jwt-svid"}))).collect();
    json!({"keys": keys, "spiffe_sequence": 7, "spiffe_refresh_hint": 300})
}

fn domain(folder: &Path, keys: &[&Signer]) -> TrustDomain {
    domain_in(folder, &bundle(keys))
}

/// Verifies a token with one key of the trust domain `example.org`, which is otherwise as usual.
async fn verify_once(key: &Signer, token: &str) -> Result<Arc<Principal>, Refusal> {
    let folder = tempfile::tempdir().unwrap();
    verify(&start([domain(folder.path(), &[key])]), token).await
}

/// The id of the workload that a principal is.
fn workload(principal: &Principal) -> &str {
    let Subject::Workload(id) = &principal.subject else { panic!("{principal:?}") };
    id.as_str()
}

#[tokio::test(start_paused = true)]
async fn a_token_proves_its_workload_until_its_end_and_the_leeway() {
    let key = Signer::p256("k1");
    let more = json!({"scope": "tools", "groups": ["root"], "email": "a@example.org"});
    let verified = verify_once(&key, &key.token(&svid(&more))).await.unwrap();
    assert_eq!(workload(&verified), AGENT);
    assert_eq!((&verified.email, &verified.grant.groups[..]), (&None, &[][..]), "no claim names a group");
    assert_eq!(verified.grant.scopes, ["tools"]);
    let end = std::time::UNIX_EPOCH + Duration::from_secs((NOW + 330).cast_unsigned());
    assert_eq!(verified.grant.ends_at, Some(end));
    for typ in ["JWT", "JOSE", "jose"] {
        let token = key.token_with(&json!({"typ": typ}), &svid(&json!({})));
        assert!(verify_once(&key, &token).await.is_ok(), "{typ}");
    }
    let bound = key.token(&svid(&json!({"aud": "https://tools.example/mcp/shop"})));
    assert!(verify_once(&key, &bound).await.unwrap().bound_to.is_some());
}

#[tokio::test(start_paused = true)]
async fn a_bad_header_has_its_word() {
    let key = Signer::p256("k1");
    for (header, word) in [
        (json!({"alg": "none"}), "wrong_algorithm"),
        (json!({"alg": "HS256", "jwk": key.jwk()}), "wrong_algorithm"),
        (json!({"alg": "EdDSA"}), "wrong_algorithm"),
        (json!({"alg": "ES384"}), "key_of_another_algorithm"),
        (json!({"alg": "RS256"}), "key_of_another_algorithm"),
        (json!({"alg": null}), "malformed"),
        (json!({"kid": null}), "key_not_named"),
        (json!({"kid": ""}), "malformed"),
        (json!({"kid": "k2"}), "unknown_key"),
        (json!({"kid": "k".repeat(20_000)}), "too_long"),
        (json!({"crit": ["exp"]}), "critical_extension"),
        (json!({"typ": "at+jwt"}), "not_jwt_svid"),
        (json!({"typ": "JWT "}), "not_jwt_svid"),
        (json!({"typ": 7}), "malformed"),
    ] {
        let token = key.token_with(&header, &svid(&json!({})));
        assert_eq!(verify_once(&key, &token).await.unwrap_err().word(), word, "{header:.80}");
    }
}

#[tokio::test(start_paused = true)]
async fn bad_claims_have_their_word() {
    let key = Signer::p256("k1");
    let year = 365 * 24 * 3_600;
    for (change, word) in [
        (json!({"sub": null}), "unknown_issuer"),
        (json!({"sub": "agent"}), "unknown_issuer"),
        (json!({"sub": "SPIFFE://example.org/agent"}), "unknown_issuer"),
        (json!({"sub": [AGENT]}), "unknown_issuer"),
        (json!({"sub": "https://example.org/agent"}), "unknown_issuer"),
        (json!({"sub": "spiffe://"}), "malformed_spiffe_id"),
        (json!({"sub": "spiffe://example.org"}), "malformed_spiffe_id"),
        (json!({"sub": "spiffe://example.org/"}), "malformed_spiffe_id"),
        (json!({"sub": "spiffe://example.org/a/../b"}), "malformed_spiffe_id"),
        (json!({"sub": "spiffe://example.org/*/agent"}), "malformed_spiffe_id"),
        (json!({"sub": "spiffe://EXAMPLE.org/agent"}), "malformed_spiffe_id"),
        (json!({"sub": "spiffe://ex\u{430}mple.org/agent"}), "malformed_spiffe_id"),
        (json!({"sub": "spiffe://example.org:443/agent"}), "malformed_spiffe_id"),
        (json!({"sub": "spiffe://a@example.org/agent"}), "malformed_spiffe_id"),
        (json!({"sub": "spiffe://example.org./agent"}), "unknown_trust_domain"),
        (json!({"sub": "spiffe://example.org.evil.example/agent"}), "unknown_trust_domain"),
        (json!({"sub": "spiffe://other.example/agent"}), "unknown_trust_domain"),
        (json!({"aud": null}), "wrong_audience"),
        (json!({"aud": []}), "wrong_audience"),
        (json!({"aud": ["else"]}), "wrong_audience"),
        (json!({"exp": null}), "no_expiry"),
        (json!({"exp": NOW - 30}), "expired"),
        (json!({"exp": "soon"}), "malformed"),
        (json!({"nbf": NOW + 31}), "not_yet_valid"),
        (json!({"iat": NOW + 31}), "issued_in_future"),
        (json!({"exp": NOW + year}), "lives_too_long"),
        (json!({"cnf": {"x5t#S256": "t"}}), "bound"),
        (json!({"iss": [ISSUER]}), "unknown_issuer"),
        (json!({"note": "x".repeat(16 * 1_024)}), "too_long"),
    ] {
        let token = key.token(&svid(&change));
        assert_eq!(verify_once(&key, &token).await.unwrap_err().word(), word, "{change:.80}");
    }
    // The refusal of a token that another key signed says nothing of its claims.
    let forged = Signer::p256("k1").token(&svid(&json!({"exp": 1, "aud": "else"})));
    assert_eq!(verify_once(&key, &forged).await.unwrap_err().word(), "wrong_signature");
}

#[tokio::test(start_paused = true)]
async fn the_log_says_which_trust_domain_and_issuer_a_token_names() {
    let key = Signer::p256("k1");
    for (change, detail) in [
        (json!({"sub": "spiffe://other/a"}), "it names \"spiffe://other/a\""),
        (
            json!({"sub": "spiffe://other/a", "iss": "https://oidc.example"}),
            "it names \"spiffe://other/a\", and the issuer \"https://oidc.example\"",
        ),
        (json!({"sub": "spiffe://a\n"}), "it names \"spiffe://a\\n\""),
    ] {
        let refused = verify_once(&key, &key.token(&svid(&change))).await.unwrap_err();
        assert_eq!(refused.detail().as_deref(), Some(detail));
        assert!(!refused.to_string().contains('"'), "{refused}");
    }
}

#[tokio::test(start_paused = true)]
async fn each_trust_domain_vouches_for_its_own_workloads_alone() {
    let (folder, other_folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (key, other_key) = (Signer::p256("k1"), Signer::p256("k1"));
    let ours = domain(folder.path(), &[&key]);
    let mut theirs = domain(other_folder.path(), &[&other_key]);
    theirs.name = "example.com".to_owned();
    let domains = start([ours, theirs]);
    let of_theirs = svid(&json!({"sub": "spiffe://example.com/ns/shop/sa/agent"}));
    let (ours, theirs) = (
        verify(&domains, &key.token(&svid(&json!({})))).await,
        verify(&domains, &other_key.token(&of_theirs)).await,
    );
    assert_eq!(workload(&ours.unwrap()), AGENT);
    assert_eq!(workload(&theirs.unwrap()), "spiffe://example.com/ns/shop/sa/agent");
    for token in [other_key.token(&svid(&json!({}))), key.token(&of_theirs)] {
        assert_eq!(verify(&domains, &token).await.unwrap_err().word(), "wrong_signature");
    }
}

/// The claim `iss` of a configured issuer decides, and without one the trust domain of `sub`.
#[tokio::test(start_paused = true)]
async fn a_token_is_of_one_signer_and_is_never_verified_by_the_other() {
    let (folder, other_folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (issuers_key, domains_key) = (Signer::p256("k1"), Signer::p256("k1"));
    let corp = corp_in(folder.path(), &[&issuers_key]);
    let domain = domain(other_folder.path(), &[&domains_key]);
    let both = start([crate::Signer::from(corp.clone()), domain.clone().into()]);
    let (of_issuer, of_domain) = (svid(&json!({"iss": ISSUER})), svid(&json!({})));
    let with_other_iss = svid(&json!({"iss": "https://oidc.example"}));

    let proven = verify(&both, &issuers_key.token(&of_issuer)).await.unwrap();
    assert_eq!(user(&proven), format!("corp:{AGENT}"), "the issuer's user, and no workload");
    for claims in [&of_domain, &with_other_iss] {
        assert_eq!(workload(&verify(&both, &domains_key.token(claims)).await.unwrap()), AGENT);
    }
    for token in
        [domains_key.token(&of_issuer), issuers_key.token(&of_domain), issuers_key.token(&with_other_iss)]
    {
        assert_eq!(verify(&both, &token).await.unwrap_err().word(), "wrong_signature");
    }
    // A token of an issuer that was removed is of the trust domain, whose keys did not sign it.
    let without = both.renew([domain], resource());
    assert_eq!(verify(&without, &issuers_key.token(&of_issuer)).await.unwrap_err().word(), "wrong_signature");
    let without = both.renew([corp], resource());
    assert_eq!(
        verify(&without, &domains_key.token(&of_domain)).await.unwrap_err().word(),
        "unknown_trust_domain"
    );
}

#[tokio::test(start_paused = true)]
async fn an_issuer_and_a_trust_domain_of_one_name_have_keys_settings_and_labels_of_their_own() {
    let (folder, other_folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (issuers_key, domains_key) = (Signer::ed("k1"), Signer::p384("k1"));
    let corp = corp_in(folder.path(), &[&issuers_key]);
    let domain = TrustDomain { name: "corp".to_owned(), ..domain(other_folder.path(), &[&domains_key]) };
    let both = start([crate::Signer::from(corp), domain.into()]);
    let of_domain = svid(&json!({"sub": "spiffe://corp/8f2c"}));
    let (issued, svid) = (
        verify(&both, &issuers_key.token(&claims(&json!({})))).await,
        verify(&both, &domains_key.token(&of_domain)).await,
    );
    let (issued, svid) = (issued.unwrap(), svid.unwrap());
    assert_eq!((user(&issued), workload(&svid)), ("corp:8f2c", "spiffe://corp/8f2c"));
    assert_ne!(issued.grant.acceptance, svid.grant.acceptance);
    assert_eq!(format!("{both:?}"), "[\"corp\", \"spiffe://corp\"]");
}

#[test]
fn only_keys_of_jwt_svids_are_of_use() {
    let key = Signer::p256("k1");
    let with = |change: Value| json!({"keys": [changed(&key.jwk(), &change)]});
    let is_read = |set: &Value, key_use| KeySet::read(set, key_use).is_ok();
    for (change, of_svids, of_issuers) in [
        (json!({"use": "jwt-svid"}), true, false),
        // As the Workload API has them.
        (json!({"use": null}), true, true),
        (json!({"use": null, "x5c": ["MIIB"]}), false, true),
        (json!({"use": "x509-svid"}), false, false),
        (json!({"use": "x509-svid", "x5c": ["MIIB"]}), false, false),
        (json!({"use": "sig"}), false, true),
        (json!({"use": "JWT-SVID"}), false, false),
        (json!({"use": ["jwt-svid"]}), false, false),
        (json!({"use": "wit-svid"}), false, false),
        (json!({"use": "jwt-svid", "kid": null}), false, false),
        (json!({"use": "jwt-svid", "key_ops": ["sign"]}), false, false),
    ] {
        let set = with(change.clone());
        let read = (is_read(&set, KeyUse::JwtSvid), is_read(&set, KeyUse::Signature));
        assert_eq!(read, (of_svids, of_issuers), "{change}");
    }
    let refused = |set: &Value| KeySet::read(set, KeyUse::JwtSvid).unwrap_err().to_string();
    assert!(refused(&with(json!({"use": "x509-svid"}))).contains("`use` jwt-svid"));
    // Two keys of one name are refused whole; one of another use has no name here.
    let (one, other) =
        (bundle(&[&key])["keys"][0].clone(), bundle(&[&Signer::p256("k1")])["keys"][0].clone());
    assert!(refused(&json!({"keys": [one, other]})).contains("two keys have the same name"));
    let of_x509 = changed(&other, &json!({"use": "x509-svid"}));
    assert!(is_read(&json!({"keys": [one, of_x509]}), KeyUse::JwtSvid));
}

#[tokio::test(start_paused = true)]
async fn the_key_of_x509_svids_verifies_no_token() {
    let folder = tempfile::tempdir().unwrap();
    let (key, of_x509) = (Signer::p256("k1"), Signer::p256("k2"));
    let mut keys = bundle(&[&key]);
    let of_certificates = changed(&of_x509.jwk(), &json!({"use": "x509-svid", "x5c": ["MIIB"]}));
    keys["keys"].as_array_mut().unwrap().push(of_certificates);
    let domains = start([domain_in(folder.path(), &keys)]);
    assert!(verify(&domains, &key.token(&svid(&json!({})))).await.is_ok());
    assert_eq!(verify(&domains, &of_x509.token(&svid(&json!({})))).await.unwrap_err().word(), "unknown_key");
}

#[tokio::test(start_paused = true)]
async fn keys_are_renewed_and_unavailable_while_they_cannot_be_had() {
    let folder = tempfile::tempdir().unwrap();
    let (key, next) = (Signer::p256("k1"), Signer::p256("k2"));
    let domain = domain(folder.path(), &[&key]);
    let path = folder.path().join("bundle.json");
    fs::remove_file(&path).unwrap();
    let domains = start([domain.clone()]);
    let (old, new) = (key.token(&svid(&json!({}))), next.token(&svid(&json!({}))));
    assert_eq!(verify(&domains, &old).await.unwrap_err().word(), "keys_unavailable", "away at the start");
    fs::write(&path, bundle(&[&key]).to_string()).unwrap();
    advance(Duration::from_secs(31)).await;
    assert!(verify(&domains, &old).await.is_ok());
    // A new key is fetched for the first token that names it, at most each 30 s.
    advance(Duration::from_secs(31)).await;
    fs::write(&path, bundle(&[&next]).to_string()).unwrap();
    assert!(verify(&domains, &new).await.is_ok());
    assert!(verify(&domains, &old).await.is_ok(), "remembered");
    // The keys stay with other settings, and no token is remembered.
    fs::remove_file(&path).unwrap();
    let mut other = domain.clone();
    other.tokens.algorithms = vec![Algorithm::ES256];
    let renewed = domains.renew([other], resource());
    assert!(verify(&renewed, &new).await.is_ok());
    assert_eq!(verify(&renewed, &old).await.unwrap_err().word(), "keys_unavailable");
    let none = renewed.renew([] as [TrustDomain; 0], resource());
    assert_eq!(verify(&none, &new).await.unwrap_err().word(), "unknown_trust_domain");
}

/// The provider of a host, or the user that a token is of.
async fn subject_of(issuer: Issuer, hosts: &[HostClaims], token: &str) -> Result<Subject, &'static str> {
    let issuers = start([issuer]).with_hosts(hosts.iter().cloned());
    verify(&issuers, token).await.map(|it| it.subject.clone()).map_err(|refusal| refusal.word())
}

#[tokio::test(start_paused = true)]
async fn a_token_with_the_claims_of_a_provider_is_its_hosts_and_no_users() {
    let folder = tempfile::tempdir().unwrap();
    let key = Signer::ed("k1");
    let corp = corp_in(folder.path(), &[&key]);
    let host = |provider: &str, claims: &[(&str, &str)]| HostClaims {
        provider: provider.into(),
        issuer: "corp".to_owned(),
        claims: claims.iter().map(|(path, text)| (path.parse().unwrap(), (*text).to_owned())).collect(),
    };
    let shop = host("shop", &[("azp", "shop-host"), ("realm.env", "prod")]);
    let bank = host("bank", &[("email", "bank@example.com")]);
    let of_other = HostClaims { issuer: "other".to_owned(), ..host("other", &[("sub", "8f2c")]) };
    let hosts = [shop, bank, of_other];
    let is_user = Ok(Subject::User("corp:8f2c".parse().unwrap()));
    let is_host = |name: &str| Ok(Subject::Host(name.into()));
    let good = json!({"azp": "shop-host", "realm": {"env": "prod"}});
    for (change, expected) in [
        (good.clone(), is_host("shop")),
        (json!({"azp": "shop-host", "realm.env": "prod"}), is_host("shop")),
        // What is of users matters to none.
        (changed(&good, &json!({"sub": null, "hasgroups": true})), is_host("shop")),
        (json!({"email": "bank@example.com", "email_verified": true}), is_host("bank")),
        (json!({"email": "bank@example.com"}), is_user.clone()),
        (json!({"azp": "shop-host"}), is_user.clone()),
        (json!({"azp": "shop-host", "realm": {"env": "test"}}), is_user.clone()),
        (json!({"azp": "Shop-host", "realm": {"env": "prod"}}), is_user.clone()),
        (json!({"azp": "shop-host ", "realm": {"env": "prod"}}), is_user.clone()),
        (json!({"azp": ["shop-host"], "realm": {"env": "prod"}}), is_user),
        (changed(&good, &json!({"exp": NOW - 30})), Err("expired")),
        (changed(&good, &json!({"aud": "else"})), Err("wrong_audience")),
    ] {
        let found = subject_of(corp.clone(), &hosts, &key.token(&claims(&change))).await;
        assert_eq!(found, expected, "{change}");
    }
    let forged = Signer::ed("k1").token(&claims(&good));
    assert_eq!(subject_of(corp, &hosts, &forged).await, Err("wrong_signature"));
}
