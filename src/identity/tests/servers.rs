//! Issuers over HTTP: metadata, keys, rotation, and servers that misbehave.

use std::{fs, time::Duration};

use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};
use url::Url;
use wiremock::{
    Mock, MockServer, ResponseTemplate,
    matchers::{header, method, path},
};

use super::support::{Signer, changed, claims, corp, key_set, start, user, verify};
use crate::{Issuer, KeySource, fetch};
use toolwire_outgoing::Egress;

/// Answers a path with a JSON value.
async fn serve(server: &MockServer, at: &str, value: &Value) {
    let answer = ResponseTemplate::new(200).set_body_json(value);
    Mock::given(method("GET")).and(path(at)).respond_with(answer).mount(server).await;
}

fn url(server: &MockServer, path: &str) -> Url {
    format!("{}{path}", server.uri()).parse().unwrap()
}

/// The issuer that a server is, by discovery below a path.
fn discovered(server: &MockServer, path: &str) -> Issuer {
    let base = url(server, path);
    let issuer = format!("{}{path}", server.uri());
    Issuer { issuer, ..corp(KeySource::Discovery(base)) }
}

/// Why the keys of an issuer are not fetched, in the operator's words.
async fn failure(issuer: &Issuer) -> String {
    fetch::keys(&issuer.clone().into(), &Egress::default()).await.expect_err("refused").to_string()
}

#[tokio::test]
async fn keys_are_where_the_metadata_of_the_issuer_say() {
    let key = Signer::ed("k1");
    for (issuer_path, metadata) in [
        ("", "/.well-known/openid-configuration"),
        ("/realms/a", "/realms/a/.well-known/openid-configuration"),
        ("/realms/b", "/.well-known/oauth-authorization-server/realms/b"),
    ] {
        let server = MockServer::start().await;
        let issuer = discovered(&server, issuer_path);
        serve(&server, metadata, &json!({"issuer": issuer.issuer, "jwks_uri": url(&server, "/keys")})).await;
        serve(&server, "/keys", &key_set(&[&key])).await;
        let token = key.token(&claims(&json!({"iss": issuer.issuer})));
        let verified = verify(&start([issuer]), &token).await.expect(metadata);
        assert_eq!(user(&verified), "corp:8f2c");
    }
}

#[tokio::test]
async fn metadata_of_another_issuer_are_refused() {
    let server = MockServer::start().await;
    let issuer = discovered(&server, "");
    for (found, keys, words) in [
        (json!(format!("{}/", issuer.issuer)), json!("http://localhost/keys"), "is of the issuer"),
        (json!("https://login.example"), json!("http://localhost/keys"), "is of the issuer"),
        (json!(null), json!("http://localhost/keys"), "is of the issuer"),
        (json!(issuer.issuer), json!(null), "names no address"),
        (json!(issuer.issuer), json!("keys"), "names no address"),
        (
            json!(issuer.issuer),
            json!("http://169.254.169.254/latest/meta-data"),
            "must not be a link-local address",
        ),
        (json!(issuer.issuer), json!("http://[fd00:ec2::254]/keys"), "must not be a link-local address"),
        (json!(issuer.issuer), json!("http://10.0.0.7/keys"), "must be https://"),
        (json!(issuer.issuer), json!("https://me:secret@localhost/keys"), "must not hold a user"),
        (json!(issuer.issuer), json!("file:///etc/passwd"), "must be https://"),
    ] {
        server.reset().await;
        let metadata = changed(&json!({}), &json!({"issuer": found, "jwks_uri": keys}));
        serve(&server, "/.well-known/openid-configuration", &metadata).await;
        let failure = failure(&issuer).await;
        assert!(failure.contains(words), "{metadata}: {failure}");
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let (server, metadata) = (MockServer::start().await, MockServer::start().await);
    for to in
        ["http://169.254.169.254/latest/meta-data".to_owned(), metadata.uri(), format!("{}/b", server.uri())]
    {
        server.reset().await;
        let answer = ResponseTemplate::new(302).insert_header("location", to);
        Mock::given(path("/keys")).respond_with(answer).mount(&server).await;
        let failure = failure(&corp(KeySource::Url(url(&server, "/keys")))).await;
        assert!(failure.contains("answered 302 Found, and redirects are not followed"), "{failure}");
    }
    assert!(metadata.received_requests().await.unwrap().is_empty());
}

#[tokio::test]
async fn bad_key_sets_are_refused_whole() {
    let server = MockServer::start().await;
    let (key, other) = (Signer::ed("k1"), Signer::ed("k1"));
    let many: Vec<_> = (0..10_000).map(|at| json!({"kid": at.to_string()})).collect();
    let weak = json!({"kty": "RSA", "kid": "w", "n": "u".repeat(172), "e": "AQAB"});
    for (set, words) in [
        (json!([]), "no JSON Web Key Set"),
        (json!({"keys": {}}), "no JSON Web Key Set"),
        (json!({"keys": []}), "none of the keys"),
        (json!({"keys": [weak]}), "none of the keys"),
        (json!({"keys": [changed(&key.jwk(), &json!({"kid": null}))]}), "none of the keys"),
        (json!({"keys": [changed(&key.jwk(), &json!({"use": "enc"}))]}), "none of the keys"),
        (json!({"keys": [changed(&key.jwk(), &json!({"key_ops": ["sign"]}))]}), "none of the keys"),
        (json!({"keys": [changed(&key.jwk(), &json!({"alg": "RS256"}))]}), "none of the keys"),
        (json!({"keys": [{"kty": "oct", "kid": "s", "k": "c2VjcmV0"}]}), "none of the keys"),
        (key_set(&[&key, &other]), "the same name"),
        (json!({"keys": many}), "more than 100 keys"),
        (json!({"keys": [key.jwk()], "note": "x".repeat(256 * 1_024)}), "longer than 256 KiB"),
    ] {
        server.reset().await;
        serve(&server, "/keys", &set).await;
        let failure = failure(&corp(KeySource::Url(url(&server, "/keys")))).await;
        assert!(failure.contains(words), "{:.80}: {failure}", set.to_string());
    }
    for answer in [
        ResponseTemplate::new(200).set_body_string("<html>"),
        ResponseTemplate::new(200).set_body_string(r#"{"keys": [], "keys": []}"#),
        ResponseTemplate::new(200).set_body_bytes([0xff, 0xfe]),
    ] {
        server.reset().await;
        Mock::given(path("/keys")).respond_with(answer).mount(&server).await;
        let failure = failure(&corp(KeySource::Url(url(&server, "/keys")))).await;
        assert!(failure.contains("is no JSON"), "{failure}");
    }
}

#[tokio::test]
async fn one_name_may_be_that_of_keys_that_nobody_can_mistake() {
    let (ed, rsa) = (Signer::ed("k1"), Signer::rsa("k1"));
    let as_rs = changed(&rsa.jwk(), &json!({"alg": "RS256"}));
    let published_as_pss = changed(&rsa.jwk(), &json!({"alg": "PS256"}));
    let server = MockServer::start().await;
    serve(
        &server,
        "/keys",
        &json!({"keys": [ed.jwk(), as_rs, published_as_pss, {"kty": "new", "kid": "k1"}]}),
    )
    .await;
    let issuers = start([corp(KeySource::Url(url(&server, "/keys")))]);
    for key in [&ed, &rsa] {
        assert!(verify(&issuers, &key.token(&claims(&json!({})))).await.is_ok());
    }
}

#[tokio::test]
async fn an_endless_answer_is_cut_off() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = format!("http://{}/keys", listener.local_addr().unwrap()).parse().unwrap();
    let site = tokio::spawn(async move {
        let (mut connection, _) = listener.accept().await.unwrap();
        let asked = connection.read(&mut [0; 1_024]).await.unwrap();
        assert!(asked > 0);
        connection.write_all(b"HTTP/1.1 200 OK\r\n\r\n{\"keys\":[\"").await.unwrap();
        let mut sent: u64 = 0;
        while connection.write_all(&vec![b'x'; 65_536]).await.is_ok() {
            sent += 65_536;
        }
        sent
    });
    assert!(failure(&corp(KeySource::Url(at))).await.contains("longer than 256 KiB"));
    let sent = site.await.unwrap();
    assert!(sent < 64 << 20, "{sent} bytes were taken");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_answers_holds_up_a_token_for_5_s() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = format!("http://{}/keys", listener.local_addr().unwrap()).parse().unwrap();
    let issuers = start([corp(KeySource::Url(at))]);
    let token = Signer::ed("k1").token(&claims(&json!({})));
    assert_eq!(verify(&issuers, &token).await.unwrap_err().word(), "keys_unavailable");
    drop(listener);
}

#[tokio::test]
async fn keys_that_rotate_fail_no_token() {
    let server = MockServer::start().await;
    let (old, new) = (Signer::ed("k1"), Signer::ed("k2"));
    serve(&server, "/keys", &key_set(&[&old])).await;
    let issuers = start([corp(KeySource::Url(url(&server, "/keys")))]);
    let sub = |at: usize| claims(&json!({"sub": at.to_string()}));
    for at in 0..500 {
        assert!(verify(&issuers, &old.token(&sub(at))).await.is_ok());
    }
    server.reset().await;
    serve(&server, "/keys", &key_set(&[&new, &old])).await;
    let tokens: Vec<_> =
        (500..2_500).map(|at| if at % 2 == 0 { new.token(&sub(at)) } else { old.token(&sub(at)) }).collect();
    let verified = join_all(tokens.iter().map(|token| verify(&issuers, token))).await;
    assert_eq!(verified.iter().filter(|it| it.is_err()).count(), 0);
    assert_eq!(server.received_requests().await.unwrap().len(), 1, "they waited for one fetch");
}

#[tokio::test]
async fn a_bearer_token_goes_to_the_configured_origin_alone() {
    let (server, elsewhere) = (MockServer::start().await, MockServer::start().await);
    let folder = tempfile::tempdir().unwrap();
    let token_file = folder.path().join("token");
    fs::write(&token_file, "cluster-token\n").unwrap();
    let mut issuer = discovered(&server, "");
    issuer.tokens.bearer_file = Some(token_file.clone());
    let metadata = json!({"issuer": issuer.issuer, "jwks_uri": url(&elsewhere, "/keys")});
    Mock::given(header("authorization", "Bearer cluster-token"))
        .respond_with(ResponseTemplate::new(200).set_body_json(metadata))
        .mount(&server)
        .await;
    serve(&elsewhere, "/keys", &key_set(&[&Signer::ed("k1")])).await;
    fetch::keys(&issuer.clone().into(), &Egress::default()).await.expect("the metadata came for the token");
    let asked = elsewhere.received_requests().await.unwrap();
    assert!(asked[0].headers.get("authorization").is_none());
    fs::remove_file(&token_file).unwrap();
    assert!(failure(&issuer).await.contains("token cannot be read"));
}

#[tokio::test]
async fn files_are_bounded_and_what_is_wrong_with_one_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("jwks.json");
    let issuer = corp(KeySource::File(at.clone()));
    assert!(failure(&issuer).await.contains("jwks.json cannot be read: No such file"));
    fs::write(&at, "x".repeat(256 * 1_024 + 1)).unwrap();
    assert!(failure(&issuer).await.contains("jwks.json is longer than 256 KiB"));
    fs::write(&at, "{}").unwrap();
    let mut ca = corp(KeySource::Url("https://localhost:1/keys".parse().unwrap()));
    ca.tokens.ca = Some(at);
    assert!(failure(&ca).await.contains("jwks.json holds no certificate in PEM"));
    let nobody = corp(KeySource::Url("https://localhost:1/keys".parse().unwrap()));
    let waited = tokio::time::timeout(Duration::from_mins(1), failure(&nobody)).await.unwrap();
    assert!(waited.contains("https://localhost:1/keys cannot be reached"), "{waited}");
}
