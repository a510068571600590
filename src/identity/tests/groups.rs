//! Users, their e-mail addresses and their groups, in the forms that issuers give them.

use serde_json::{Value, json};

use super::support::{Signer, claims, verify_once};
use crate::Issuer;

async fn groups_of(change: &Value, path: &str) -> Result<Vec<String>, &'static str> {
    let key = Signer::ed("k1");
    let configure = |issuer: &mut Issuer| issuer.groups = Some(path.parse().unwrap());
    let verified = verify_once(&key, &key.token(&claims(change)), configure).await;
    verified.map(|it| it.grant.groups.clone()).map_err(|refusal| refusal.word())
}

#[tokio::test(start_paused = true)]
async fn groups_are_a_list_words_or_at_the_end_of_a_path() {
    for (change, path) in [
        (json!({"groups": ["a", "b"]}), "groups"),
        (json!({"groups": "a  b"}), "groups"),
        (json!({"realm_access": {"roles": ["a", "b"]}}), "realm_access.roles"),
        (json!({"https://example.com/groups": ["a", "b"]}), "https://example.com/groups"),
        (json!({"x.y": ["a", "b"], "x": {"y": "c"}}), "x.y"),
    ] {
        let found = groups_of(&change, path).await;
        assert_eq!(found, Ok(vec!["corp/a".to_owned(), "corp/b".to_owned()]), "{change}");
    }
    for (change, path) in
        [(json!({}), "groups"), (json!({"groups": []}), "groups"), (json!({"x": {"y": "a"}}), "x.z")]
    {
        assert_eq!(groups_of(&change, path).await, Ok(Vec::new()), "{change}");
    }
}

#[tokio::test(start_paused = true)]
async fn groups_that_cannot_be_read_are_refused_and_never_taken_for_none() {
    for change in [json!({"groups": 7}), json!({"groups": {"a": true}}), json!({"groups": ["a", 1]})] {
        assert_eq!(groups_of(&change, "groups").await, Err("malformed_groups"), "{change}");
    }
    // A scope may bind the token.
    for change in
        [json!({"scope": {"a": "tools:shop"}}), json!({"scp": 7}), json!({"scope": ["tools:shop", 1]})]
    {
        assert_eq!(groups_of(&change, "groups").await, Err("malformed_scope"), "{change}");
    }
    for (change, path) in [
        (
            json!({"_claim_names": {"groups": "src1"}, "_claim_sources": {"src1": {"endpoint": "x"}}}),
            "groups",
        ),
        (json!({"_claim_names": {"realm_access": "src1"}}), "realm_access.roles"),
        (json!({"hasgroups": true}), "groups"),
        (json!({"hasgroups": "true", "groups": ["a"]}), "groups"),
    ] {
        assert_eq!(groups_of(&change, path).await, Err("groups_left_out"), "{change}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_address_names_a_user_only_if_it_is_verified() {
    let key = Signer::ed("k1");
    let by_address = |issuer: &mut Issuer| issuer.user = "email".parse().unwrap();
    let riley = "riley@example.com";
    for verified in [json!(true), json!("true")] {
        let token = key.token(&claims(&json!({"email": riley, "email_verified": verified})));
        let user = verify_once(&key, &token, by_address).await.unwrap().subject.to_string();
        assert_eq!(user.as_str(), "corp:riley@example.com");
    }
    for unverified in [json!(null), json!(false), json!("false"), json!(1), json!({})] {
        let token = key.token(&claims(&json!({"email": riley, "email_verified": unverified})));
        let refused = verify_once(&key, &token, by_address).await.unwrap_err();
        assert_eq!(refused.word(), "unverified_email", "{unverified}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_address_is_shown_unless_it_is_known_to_be_unverified() {
    let key = Signer::ed("k1");
    for (change, shown) in [
        (json!({"email": "riley@example.com"}), true),
        (json!({"email": "riley@example.com", "email_verified": false}), false),
        (json!({"email": "riley\n@example.com"}), false),
        (json!({"email": "x".repeat(255)}), false),
        (json!({"email": ["riley@example.com"]}), false),
    ] {
        let verified = verify_once(&key, &key.token(&claims(&change)), |_| ()).await.unwrap();
        assert_eq!(verified.email.is_some(), shown, "{change}");
    }
}

#[tokio::test(start_paused = true)]
async fn users_that_look_alike_are_different_users() {
    let key = Signer::ed("k1");
    let mut users = Vec::new();
    for sub in
        ["paypal", "pаypal", "PayPal", "paypal ", "pay\u{200b}pal", "sha256-0", "corp:paypal", "corp/paypal"]
    {
        let token = key.token(&claims(&json!({"sub": sub})));
        users.push(verify_once(&key, &token, |_| ()).await.unwrap().subject.to_string());
    }
    let different: std::collections::BTreeSet<_> = users.iter().collect();
    assert_eq!(different.len(), users.len(), "{users:?}");
}
