//! Several issuers, and tokens that come again.

use std::{fs, time::Duration};

use serde_json::json;
use tokio::time::advance;

use super::support::{NOW, Signer, claims, corp_in, key_set, resource, start, user, verify};
use crate::{Issuer, KeySource, TokenSettings};

const OTHER: &str = "https://accounts.example";

#[tokio::test(start_paused = true)]
async fn equal_claims_of_two_issuers_are_two_users_with_groups_of_their_own() {
    let (folder, other_folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (key, other_key) = (Signer::ed("k1"), Signer::ed("k1"));
    let corp = corp_in(folder.path(), &[&key]);
    let mut partner = corp_in(other_folder.path(), &[&other_key]);
    (partner.name, partner.issuer) = ("partner".to_owned(), OTHER.to_owned());
    let issuers = start([corp, partner]);

    let alike = json!({"groups": ["support"]});
    let (ours, theirs) = (claims(&alike), claims(&json!({"groups": ["support"], "iss": OTHER})));
    let riley = verify(&issuers, &key.token(&ours)).await.unwrap();
    let stranger = verify(&issuers, &other_key.token(&theirs)).await.unwrap();
    assert_eq!((user(&riley), user(&stranger)), ("corp:8f2c", "partner:8f2c"));
    assert_eq!(
        (&riley.grant.groups[..], &stranger.grant.groups[..]),
        (&["corp/support".to_owned()][..], &["partner/support".to_owned()][..])
    );
    // The keys of one issuer vouch for no token of another.
    for token in [other_key.token(&ours), key.token(&theirs)] {
        assert_eq!(verify(&issuers, &token).await.unwrap_err().word(), "wrong_signature");
    }
}

#[tokio::test(start_paused = true)]
async fn a_token_that_is_remembered_ends_in_time() {
    let folder = tempfile::tempdir().unwrap();
    let key = Signer::ed("k1");
    let issuers = start([corp_in(folder.path(), &[&key])]);
    let token = key.token(&claims(&json!({"exp": NOW + 10})));
    assert!(verify(&issuers, &token).await.is_ok());
    advance(Duration::from_secs(39)).await;
    assert!(verify(&issuers, &token).await.is_ok());
    advance(Duration::from_secs(1)).await;
    assert_eq!(verify(&issuers, &token).await.unwrap_err().word(), "expired");
}

#[tokio::test(start_paused = true)]
async fn a_withdrawn_key_is_obeyed_a_minute_after_the_keys_were_renewed() {
    let folder = tempfile::tempdir().unwrap();
    let (key, next) = (Signer::ed("k1"), Signer::ed("k2"));
    let issuers = start([corp_in(folder.path(), &[&key])]);
    let token = key.token(&claims(&json!({})));
    assert!(verify(&issuers, &token).await.is_ok());
    fs::write(folder.path().join("jwks.json"), key_set(&[&next]).to_string()).unwrap();
    // The new key is fetched for the first token that names it, and with it the old one is gone.
    assert!(verify(&issuers, &next.token(&claims(&json!({})))).await.is_ok());
    assert!(verify(&issuers, &token).await.is_ok(), "remembered");
    advance(Duration::from_mins(1)).await;
    assert_eq!(verify(&issuers, &token).await.unwrap_err().word(), "unknown_key");
}

#[tokio::test(start_paused = true)]
async fn a_renewal_reads_a_file_of_keys_again() {
    let folder = tempfile::tempdir().unwrap();
    let (key, next) = (Signer::ed("k1"), Signer::ed("k2"));
    let corp = corp_in(folder.path(), &[&key]);
    let issuers = start([corp.clone()]);
    let old = key.token(&claims(&json!({})));
    assert!(verify(&issuers, &old).await.is_ok());
    fs::write(folder.path().join("jwks.json"), key_set(&[&next]).to_string()).unwrap();
    let renewed = issuers.renew([corp], resource());
    // No token has named the new key.
    assert_eq!(verify(&renewed, &old).await.unwrap_err().word(), "unknown_key");
    assert!(verify(&renewed, &next.token(&claims(&json!({})))).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_renewal_forgets_tokens_and_keeps_the_keys_of_issuers_that_stay() {
    let folder = tempfile::tempdir().unwrap();
    let (key, next) = (Signer::ed("k1"), Signer::ed("k2"));
    let corp = corp_in(folder.path(), &[&key]);
    let issuers = start([corp.clone()]);
    let (old, new) = (key.token(&claims(&json!({}))), next.token(&claims(&json!({}))));
    assert!(verify(&issuers, &old).await.is_ok());
    fs::write(folder.path().join("jwks.json"), key_set(&[&next]).to_string()).unwrap();
    assert!(verify(&issuers, &new).await.is_ok());
    fs::remove_file(folder.path().join("jwks.json")).unwrap();
    assert!(verify(&issuers, &old).await.is_ok(), "remembered");
    let renewed = issuers.renew([corp.clone()], resource());
    assert!(verify(&renewed, &new).await.is_ok(), "its key is at hand");
    assert_eq!(verify(&renewed, &old).await.unwrap_err().word(), "keys_unavailable");
    // What else is said of an issuer counts at once, with the keys that are at hand.
    let mut other = corp.clone();
    other.tokens.audience = vec!["other".to_owned()];
    let other = issuers.renew([other], resource());
    assert_eq!(verify(&other, &new).await.unwrap_err().word(), "wrong_audience");
    // One whose keys are elsewhere begins without any, and one that is gone has no users.
    let keys = KeySource::File(folder.path().join("other.json"));
    let changed =
        issuers.renew([Issuer { tokens: TokenSettings { keys, ..corp.tokens.clone() }, ..corp }], resource());
    assert_eq!(verify(&changed, &new).await.unwrap_err().word(), "keys_unavailable");
    let gone = issuers.renew([] as [Issuer; 0], resource());
    assert!(gone.is_empty());
    assert_eq!(verify(&gone, &new).await.unwrap_err().word(), "unknown_issuer");
}
