//! Single tokens: what a good one proves, and the word for each bad one.

use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::support::{ISSUER, NOW, Signer, changed, claims, encode, key_set, user, verify, verify_once};
use crate::{
    Algorithm,
    jwk::{KeySet, KeyUse},
    jws::Jws,
};

#[tokio::test(start_paused = true)]
async fn a_token_proves_its_user_until_its_end_and_the_leeway() {
    let key = Signer::ed("k1");
    let more = json!({"aud": ["else", "toolwire"], "email": "riley@example.com", "groups": ["support", "a b"],
                      "scope": "tools openid", "scp": ["tools:shop"]});
    let verified = verify_once(&key, &key.token(&claims(&more)), |_| ()).await.unwrap();
    assert_eq!(user(&verified), "corp:8f2c");
    assert_eq!(verified.email.as_deref(), Some("riley@example.com"));
    assert_eq!(verified.grant.groups, ["corp/support".to_owned(), crate::group_id("corp", "a b")]);
    assert_eq!(verified.grant.scopes, ["tools", "openid", "tools:shop"]);
    assert_eq!(verified.audiences, ["else", "toolwire"]);
    let end = std::time::UNIX_EPOCH + std::time::Duration::from_secs((NOW + 630).cast_unsigned());
    assert_eq!(verified.grant.ends_at, Some(end));
}

#[tokio::test(start_paused = true)]
async fn every_algorithm_is_verified_if_the_issuer_may_use_it() {
    let (rsa, p256, p384, ed) = (Signer::rsa("r"), Signer::p256("e"), Signer::p384("f"), Signer::ed("d"));
    for (key, name) in [
        (&rsa, "RS256"),
        (&rsa, "RS384"),
        (&rsa, "RS512"),
        (&rsa, "PS256"),
        (&rsa, "PS384"),
        (&rsa, "PS512"),
        (&p256, "ES256"),
        (&p384, "ES384"),
        (&ed, "EdDSA"),
        (&ed, "Ed25519"),
    ] {
        let algorithm: Algorithm = name.parse().unwrap();
        let token = key.token_with(&json!({"alg": name}), &claims(&json!({})));
        let verified = verify_once(key, &token, |issuer| issuer.tokens.algorithms = vec![algorithm]).await;
        assert!(verified.is_ok(), "{name}: {verified:?}");
        let others =
            verify_once(key, &token, |issuer| issuer.tokens.algorithms.retain(|it| *it != algorithm)).await;
        assert_eq!(others.unwrap_err().word(), "wrong_algorithm", "{name}");
        let (signed, _) = token.rsplit_once('.').unwrap();
        let none =
            verify_once(key, &format!("{signed}."), |issuer| issuer.tokens.algorithms = vec![algorithm])
                .await;
        assert_eq!(none.unwrap_err().word(), "wrong_signature", "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_bad_header_has_its_word() {
    let key = Signer::p256("k1");
    let secret = key.jwk().to_string();
    for (header, word) in [
        (json!({"alg": "none"}), "wrong_algorithm"),
        (json!({"alg": "None"}), "wrong_algorithm"),
        (json!({"alg": ""}), "wrong_algorithm"),
        (json!({"alg": null}), "malformed"),
        (json!({"alg": 7}), "malformed"),
        (json!({"alg": "HS256", "jwk": secret}), "wrong_algorithm"),
        (json!({"alg": "ES384"}), "wrong_algorithm"),
        (json!({"alg": "EdDSA"}), "key_of_another_algorithm"),
        (json!({"alg": "RS256"}), "key_of_another_algorithm"),
        (json!({"kid": null}), "key_not_named"),
        (json!({"kid": ""}), "malformed"),
        (json!({"kid": 1}), "malformed"),
        (json!({"kid": "k".repeat(257)}), "malformed"),
        (json!({"kid": "k".repeat(1_000_000)}), "too_long"),
        (json!({"kid": "../../etc/passwd"}), "unknown_key"),
        (json!({"kid": "K1"}), "unknown_key"),
        (json!({"kid": "k2", "jwk": key.jwk()}), "unknown_key"),
        (json!({"kid": "k2", "jku": "https://login.example/keys"}), "unknown_key"),
        (json!({"crit": ["exp"]}), "critical_extension"),
        (json!({"crit": [], "b64": false}), "critical_extension"),
        (json!({"typ": "refresh+jwt"}), "not_access_token"),
        (json!({"typ": "logout+jwt"}), "not_access_token"),
        (json!({"typ": "dpop+jwt"}), "not_access_token"),
        (json!({"typ": 7}), "malformed"),
    ] {
        let token = key.token_with(&header, &claims(&json!({})));
        let refused = verify_once(&key, &token, |_| ()).await.unwrap_err();
        assert_eq!(refused.word(), word, "{:.80}", header.to_string());
    }
    for typ in ["JWT", "jwt", "at+jwt", "application/at+jwt", "AT+JWT"] {
        let token = key.token_with(&json!({"typ": typ}), &claims(&json!({})));
        assert!(verify_once(&key, &token, |_| ()).await.is_ok(), "{typ}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_key_of_one_algorithm_verifies_no_other() {
    let key = Signer::rsa("k1");
    let token = key.token_with(&json!({"alg": "PS256"}), &claims(&json!({})));
    let folder = tempfile::tempdir().unwrap();
    let mut issuer = super::support::corp_in(folder.path(), &[&key]);
    issuer.tokens.algorithms.push(Algorithm::PS256);
    let set = json!({"keys": [changed(&key.jwk(), &json!({"alg": "RS256"}))]});
    std::fs::write(folder.path().join("jwks.json"), set.to_string()).unwrap();
    let issuers = super::support::start([issuer]);
    assert_eq!(verify(&issuers, &token).await.unwrap_err().word(), "key_of_another_algorithm");
    assert!(verify(&issuers, &key.token(&claims(&json!({})))).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn bad_claims_have_their_word_and_their_sentence() {
    let key = Signer::ed("k1");
    let year = 365 * 24 * 3_600;
    for (change, word) in [
        (json!({"iss": null}), "unknown_issuer"),
        (json!({"iss": format!("{ISSUER}/")}), "unknown_issuer"),
        (json!({"iss": "https://LOGIN.example"}), "unknown_issuer"),
        (json!({"iss": [ISSUER]}), "unknown_issuer"),
        (json!({"aud": null}), "wrong_audience"),
        (json!({"aud": "toolwire "}), "wrong_audience"),
        (json!({"aud": "toolwire,else"}), "wrong_audience"),
        (json!({"aud": ["else"]}), "wrong_audience"),
        (json!({"aud": ["toolwire", 7]}), "wrong_audience"),
        (json!({"aud": {"toolwire": true}}), "wrong_audience"),
        (json!({"exp": null}), "no_expiry"),
        (json!({"exp": NOW - 30}), "expired"),
        (json!({"exp": -1}), "expired"),
        (json!({"exp": (NOW + 600).to_string()}), "malformed"),
        (json!({"nbf": NOW + 31}), "not_yet_valid"),
        (json!({"iat": NOW + 31}), "issued_in_future"),
        (json!({"exp": NOW + year}), "lives_too_long"),
        (json!({"exp": NOW + year, "iat": null}), "lives_too_long"),
        (json!({"exp": 1e300}), "lives_too_long"),
        (json!({"iat": NOW - 7_200}), "lives_too_long"),
        (json!({"nonce": "n"}), "not_access_token"),
        (json!({"at_hash": "h"}), "not_access_token"),
        (json!({"c_hash": "h"}), "not_access_token"),
        (json!({"events": {"http://schemas.openid.net/event/backchannel-logout": {}}}), "not_access_token"),
        (json!({"token_use": "id"}), "not_access_token"),
        (json!({"token_use": 1}), "not_access_token"),
        (json!({"typ": "Refresh"}), "not_access_token"),
        (json!({"typ": "ID"}), "not_access_token"),
        (json!({"cnf": {"jkt": "x"}}), "bound"),
        (json!({"sub": null}), "no_user"),
        (json!({"sub": ""}), "no_user"),
        (json!({"sub": 42}), "no_user"),
    ] {
        let refused = verify_once(&key, &key.token(&claims(&change)), |_| ()).await.unwrap_err();
        assert_eq!(refused.word(), word, "{change}");
    }
    for change in [
        json!({"exp": NOW - 29}),
        json!({"exp": 1_800_000_000.5}),
        json!({"nbf": NOW + 30, "iat": NOW + 30}),
        json!({"exp": NOW + 3_630}),
        json!({"iat": null}),
        json!({"token_use": "access", "typ": "Bearer"}),
        // What access tokens of Auth0, Cognito, Entra, Google, Keycloak and Okta have beside the usual claims.
        json!({"azp": "a", "gty": "client-credentials", "permissions": ["read"], "org_id": "o"}),
        json!({"origin_jti": "a", "event_id": "b", "client_id": "c", "auth_time": NOW, "version": 2,
               "cognito:groups": [], "token_use": "access"}),
        json!({"aio": "a", "appid": "b", "appidacr": "1", "oid": "c", "rh": "d", "tid": "e", "uti": "f", "ver": "1.0",
               "xms_ftd": "g", "roles": ["a"], "acct": 0, "amr": ["pwd"], "acr": "1", "idtyp": "user"}),
        json!({"azp": "a", "email_verified": true, "hd": "example.com"}),
        json!({"sid": "a", "session_state": "b", "allowed-origins": [], "realm_access": {"roles": []}, "jti": "c",
               "auth_time": NOW, "preferred_username": "d", "typ": "Bearer", "trusted-certs": []}),
        json!({"cid": "a", "uid": "b", "ver": 1, "auth_time": NOW, "scp": ["openid"]}),
    ] {
        let verified = verify_once(&key, &key.token(&claims(&change)), |_| ()).await;
        assert!(verified.is_ok(), "{change}: {verified:?}");
    }
    let expired = verify_once(&key, &key.token(&claims(&json!({"exp": NOW - 60}))), |_| ()).await;
    assert_eq!(expired.unwrap_err().to_string(), "the token has expired");
    let logout = json!({"events": {"http://schemas.openid.net/event/backchannel-logout": {}}});
    let logout = verify_once(&key, &key.token(&claims(&logout)), |_| ()).await.unwrap_err();
    assert_eq!(
        logout.to_string(),
        "the token is no access token; send the access token and not an ID, logout or refresh token"
    );
    let long =
        verify_once(&key, &key.token(&claims(&json!({"exp": NOW + 5_430}))), |_| ()).await.unwrap_err();
    assert_eq!(long.to_string(), "the token is valid for longer than the 60 min that this server allows");
    let detail = long.detail().unwrap();
    assert_eq!(detail, "it is valid for 5430 s, and max_life of its issuer is 60 min");
    let entra = claims(&json!({"iat": NOW - 300, "exp": NOW + 5_399}));
    let usual =
        verify_once(&key, &key.token(&entra), |it| it.tokens.max_life = Duration::from_mins(100)).await;
    assert!(usual.is_ok(), "{usual:?}");
    let of_another = verify_once(&key, &key.token(&claims(&json!({"aud": "else"}))), |_| ()).await;
    assert_eq!(of_another.unwrap_err().to_string(), "the token is for another audience");
}

/// The log has what the operator needs, whatever a stranger writes, and the caller sees none of it.
#[tokio::test(start_paused = true)]
async fn the_log_says_what_a_token_names_and_what_is_accepted() {
    let key = Signer::ed("k1");
    let url = "https://tools.example/mcp";
    let many: Vec<_> = (0..20).map(|number| format!("a{number}")).collect();
    let first = many[..8].iter().map(|it| format!("\"{it}\"")).collect::<Vec<_>>().join(", ");
    let audience = |named: &str| format!("it is for {named}, and accepted are \"toolwire\", \"{url}\"");
    let unseen = "x\" y\\ \n\u{1b}[31m\u{202e}";
    let seen = "\"x\\\" y\\\\ \\n\\u{1b}[31m\\u{202e}\"";
    for (change, detail) in [
        (json!({"aud": "api://else"}), Some(audience("\"api://else\""))),
        (json!({"aud": ["a", "b"]}), Some(audience("\"a\", \"b\""))),
        (json!({"aud": null}), Some(audience("none"))),
        (json!({"aud": many}), Some(audience(&format!("{first} and more")))),
        (json!({"aud": unseen}), Some(audience(seen))),
        (json!({"iss": format!("{ISSUER}/")}), Some(format!("it names \"{ISSUER}/\""))),
        (json!({"iss": unseen}), Some(format!("it names {seen}"))),
        (json!({"iss": "é".repeat(4_000)}), Some(format!("it names \"{}…\"", "é".repeat(128)))),
        (json!({"iss": 7}), None),
        (json!({"exp": 1}), None),
    ] {
        let refused = verify_once(&key, &key.token(&claims(&change)), |_| ()).await.unwrap_err();
        assert_eq!(refused.detail(), detail, "{change:.80}");
        assert!(!refused.to_string().contains('"'), "{refused}");
    }
    // The claims of an unsigned token are not in the log.
    let other = Signer::ed("k1");
    let forged = verify_once(&key, &other.token(&claims(&json!({"aud": "else"}))), |_| ()).await.unwrap_err();
    assert_eq!((forged.word(), forged.detail()), ("wrong_signature", None));
}

#[tokio::test(start_paused = true)]
async fn what_is_no_token_is_malformed() {
    let key = Signer::ed("k1");
    let (header, good) = (r#"{"alg":"EdDSA","kid":"k1"}"#, claims(&json!({})).to_string());
    let token = key.signed(header, &good);
    let twice = good.replacen('{', r#"{"aud":"else","#, 1);
    for bad in [
        String::new(),
        "x".to_owned(),
        "..".to_owned(),
        token.replacen('.', "..", 1),
        format!("{token}.x"),
        format!("{token}="),
        format!(" {token}"),
        token.replace('.', ","),
        key.signed("[]", &good),
        key.signed(header, "null"),
        key.signed(header, &twice),
        key.signed(r#"{"alg":"EdDSA","alg":"none","kid":"k1"}"#, &good),
        key.signed(header, &"[".repeat(5_000)),
    ] {
        let refused = verify_once(&key, &bad, |_| ()).await.unwrap_err();
        assert_eq!(refused.word(), "malformed", "{bad:.60}");
    }
    let long = key.token(&claims(&json!({"note": "x".repeat(16 * 1_024)})));
    assert_eq!(verify_once(&key, &long, |_| ()).await.unwrap_err().word(), "too_long");
}

#[tokio::test(start_paused = true)]
async fn a_signature_of_another_key_is_wrong_and_nothing_else_is_told() {
    let (key, other) = (Signer::ed("k1"), Signer::ed("k1"));
    for change in [json!({}), json!({"exp": 1}), json!({"aud": "else"}), json!({"sub": null})] {
        let refused = verify_once(&key, &other.token(&claims(&change)), |_| ()).await.unwrap_err();
        assert_eq!(refused.word(), "wrong_signature", "{change}");
    }
}

proptest! {
    /// A token of which any byte is replaced has no valid signature.
    #[test]
    fn a_changed_token_is_never_verified(at in any::<prop::sample::Index>(), byte in b' '..=b'~') {
        let key = Signer::ed("k1");
        let keys = KeySet::read(&key_set(&[&key]), KeyUse::Signature).unwrap();
        let mut token = key.token(&claims(&json!({}))).into_bytes();
        let at = at.index(token.len());
        prop_assume!(token[at] != byte);
        token[at] = byte;
        let token = String::from_utf8(token).unwrap();
        let holds = Jws::read(&token).is_ok_and(|jws| {
            keys.find(&jws.kid, jws.algorithm).is_some_and(|key| jws.is_signed_by(key))
        });
        prop_assert!(!holds, "{}", token);
    }

    /// No text makes the reader panic.
    #[test]
    fn any_text_is_read_or_refused(header in "\\PC{0,80}", claims in "\\PC{0,80}", signature in "[A-Za-z0-9_-]{0,90}") {
        let text = format!("{}.{}.{signature}", encode(&header), encode(&claims));
        let _: Option<Value> = Jws::read(&text).ok().map(|jws| Value::Object(jws.claims));
        prop_assert!(Jws::read(&claims).is_err());
    }
}
