//! Users of an identity provider: who they are on every face, what they may, and what they are told.

use std::time::UNIX_EPOCH;

use data_encoding::BASE64URL_NOPAD;
use ring::{
    rand::SystemRandom,
    signature::{Ed25519KeyPair, KeyPair},
};
use serde_json::{Value, json};
use toolwire::{
    base::clock,
    config::{Auth, Config, Flags, testing},
};
use wiremock::{Mock, MockServer, ResponseTemplate, matchers::path};

use crate::{
    http::{
        raw::{Raw, ask},
        toys::{CALL, COUNT, Toys, WATCH},
    },
    support::server::config_with_http,
};

const JSON: &str = "content-type: application/json";

/// An issuer on this machine, and its key.
pub(crate) struct Issuer {
    pub(crate) server: MockServer,
    key: Ed25519KeyPair,
}

impl Issuer {
    pub(crate) async fn start() -> Self {
        let document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        let key = Ed25519KeyPair::from_pkcs8(document.as_ref()).unwrap();
        let issuer = Self { server: MockServer::start().await, key };
        let url = issuer.server.uri();
        issuer.serve("/keys", &issuer.keys()).await;
        let metadata = json!({"issuer": url, "jwks_uri": format!("{url}/keys")});
        issuer.serve("/.well-known/openid-configuration", &metadata).await;
        issuer
    }

    /// Its JWK Set.
    pub(crate) fn keys(&self) -> Value {
        let x = BASE64URL_NOPAD.encode(self.key.public_key().as_ref());
        json!({"keys": [{"kty": "OKP", "crv": "Ed25519", "kid": "k1", "x": x}]})
    }

    /// Publishes metadata that name this token endpoint too, instead of those before.
    pub(crate) async fn publish(&self, token_endpoint: &str) {
        self.server.reset().await;
        let url = self.server.uri();
        self.serve("/keys", &self.keys()).await;
        let metadata =
            json!({"issuer": url, "jwks_uri": format!("{url}/keys"), "token_endpoint": token_endpoint});
        self.serve("/.well-known/openid-configuration", &metadata).await;
    }

    async fn serve(&self, at: &str, value: &Value) {
        let answer = ResponseTemplate::new(200).set_body_json(value);
        Mock::given(path(at)).respond_with(answer).mount(&self.server).await;
    }

    /// The header with a token of a user of these groups.
    pub(crate) fn token(&self, sub: &str, groups: &[&str], change: &[(&str, Value)]) -> String {
        let now = clock::wall().duration_since(UNIX_EPOCH).unwrap().as_secs();
        let mut claims = json!({"iss": self.server.uri(), "aud": "toolwire", "sub": sub, "groups": groups,
                                "iat": now, "exp": now + 600});
        for (name, value) in change {
            claims[*name] = value.clone();
        }
        let encode = |value: &Value| BASE64URL_NOPAD.encode(value.to_string().as_bytes());
        let signed = format!("{}.{}", encode(&json!({"alg": "EdDSA", "kid": "k1"})), encode(&claims));
        let signature = BASE64URL_NOPAD.encode(self.key.sign(signed.as_bytes()).as_ref());
        format!("authorization: Bearer {signed}.{signature}")
    }

    /// A server whose users are those of this issuer, by these rules, and one of its own.
    pub(crate) fn configured(&self, rules: &str) -> Config {
        let file = format!(
            "[[auth.issuers]]\nname = 'corp'\nissuer = '{}'\naudience = ['toolwire']\ngroups = 'groups'\n\
             [[auth.users]]\nuser_id = 'riley'\ntoken = 'a-long-enough-t0ken'\n{rules}",
            self.server.uri()
        );
        let auth = testing::load_text(&file, &[], Flags::default(), &[]).unwrap().config.auth;
        let mut config = config_with_http();
        config.auth = auth;
        config
    }
}

pub(crate) const RULES: &str = "[[auth.rules]]\nwho = ['group:corp/support']\ntools = ['*']\n\
                     [[auth.rules]]\nwho = ['user:corp:leaver']\ntools = ['*']\neffect = 'deny'\n";

#[tokio::test]
async fn a_user_of_an_issuer_may_what_a_rule_of_the_group_says() {
    let issuer = Issuer::start().await;
    let toys = Toys::with(issuer.configured(RULES));
    let path = format!("{CALL}/get_quotes");
    let call = async |header: &str| {
        let answer = ask(toys.http, "POST", &path, &[JSON, header], r#"{"symbol": "AAPL"}"#).await;
        if answer.status == 200 { "called".to_owned() } else { answer.code() }
    };
    assert_eq!(call(&issuer.token("8f2c", &["support"], &[])).await, "called");
    assert_eq!(call("authorization: Bearer a-long-enough-t0ken").await, "called");
    assert_eq!(call(&issuer.token("leaver", &["support"], &[])).await, "CREDENTIALS_REJECTED");
    for (sub, groups) in [("8f2c", &[][..]), ("8f2c", &["Support"][..]), ("riley", &[][..])] {
        let refused = call(&issuer.token(sub, groups, &[])).await;
        assert_eq!(refused, "TOOL_NOT_ALLOWED", "{sub} {groups:?}");
    }
}

#[tokio::test]
async fn what_is_wrong_with_a_token_is_told_to_its_caller() {
    let issuer = Issuer::start().await;
    let toys = Toys::with(issuer.configured(RULES));
    for (change, words) in [
        (("exp", json!(1)), "the token has expired"),
        (("aud", json!("else")), "the token is for another audience"),
        (("iss", json!("https://login.example")), "of an issuer that this server does not know"),
    ] {
        let answer =
            ask(toys.http, "POST", COUNT, &[JSON, &issuer.token("8f2c", &["support"], &[change])], "{}")
                .await;
        assert_eq!((answer.status, answer.code().as_str()), (401, "CREDENTIALS_REJECTED"), "{words}");
        assert!(answer.body.contains(words), "{answer:?}");
    }
    let twice = issuer.token("8f2c", &["support"], &[]);
    let answer = ask(toys.http, "POST", COUNT, &[JSON, &twice, &twice], "{}").await;
    assert_eq!((answer.status, answer.code().as_str()), (401, "CREDENTIALS_REJECTED"));
    let answer =
        ask(toys.http, "POST", COUNT, &[JSON, &twice.replace("Bearer ", "Bearer Bearer ")], "{}").await;
    assert_eq!(answer.status, 401);
    let in_query = format!("{COUNT}?access_token={}", twice.trim_start_matches("authorization: Bearer "));
    let answer = ask(toys.http, "POST", &in_query, &[JSON], "{}").await;
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (400, "INVALID_REQUEST"),
        "a parameter that nothing reads"
    );
}

#[tokio::test]
async fn while_the_issuer_is_away_its_users_are_told_to_try_again_and_others_are_served() {
    let issuer = Issuer::start().await;
    let config = issuer.configured(RULES);
    issuer.server.reset().await;
    let toys = Toys::with(config);
    let answer = ask(toys.http, "POST", COUNT, &[JSON, &issuer.token("8f2c", &["support"], &[])], "{}").await;
    assert_eq!((answer.status, answer.code().as_str()), (503, "AUTHENTICATION_UNAVAILABLE"));
    let wait: u64 = answer.headers["retry-after"].parse().unwrap();
    assert!((1..=30).contains(&wait), "{wait}");
    let token = "authorization: Bearer a-long-enough-t0ken";
    assert_eq!(ask(toys.http, "POST", COUNT, &[JSON, token], "{}").await.status, 200);
}

#[tokio::test]
async fn a_watch_ends_with_the_token_of_its_user() {
    let issuer = Issuer::start().await;
    let toys = Toys::with(issuer.configured(RULES));
    let now = clock::wall().duration_since(UNIX_EPOCH).unwrap().as_secs();
    // Its leeway ends in a second or two.
    let token = issuer.token("8f2c", &["support"], &[("exp", json!(now - 28))]);
    let mut watch = Raw::connect(toys.http).await;
    watch.ask("GET", WATCH, &[&token], "").await;
    watch.until("event: first").await;
    watch.until("\"code\":\"CREDENTIALS_REJECTED\"").await;
    watch.until("0\r\n\r\n").await;
}

#[tokio::test]
async fn a_client_finds_where_to_sign_in_and_its_token_for_the_resource_is_accepted() {
    let issuer = Issuer::start().await;
    let url = "https://tools.example";
    let mut config = issuer.configured(RULES);
    config.http.public_url = Some(url.to_owned());
    let toys = Toys::with(config);
    let asked = async |path: &str, headers: &[&str]| {
        let mut all = vec![JSON, "accept: application/json, text/event-stream"];
        all.extend(headers);
        ask(toys.http, "POST", path, &all, r#"{"jsonrpc": "2.0", "id": 1, "method": "ping"}"#).await
    };
    let challenge = |path: &str, rest: &str| {
        format!(
            "Bearer resource_metadata=\"{url}/.well-known/oauth-protected-resource{path}\", scope=\"tools\"{rest}"
        )
    };
    let wrong = issuer.token("8f2c", &["support"], &[("exp", json!(1))]);
    for (path, below) in [("/mcp", "/mcp"), (COUNT, "")] {
        let answer = asked(path, &[]).await;
        assert_eq!(answer.status, 401, "{path}");
        assert_eq!(answer.headers["www-authenticate"], challenge(below, ""), "{path}");
        for wrong in [wrong.as_str(), "authorization: Bearer wrong"] {
            let answer = asked(path, &[wrong]).await;
            assert_eq!(answer.status, 401, "{path}");
            assert_eq!(
                answer.headers["www-authenticate"],
                challenge(below, ", error=\"invalid_token\""),
                "{path}"
            );
        }
    }
    let expected = json!({"resource": format!("{url}/mcp"), "authorization_servers": [issuer.server.uri()],
                          "scopes_supported": ["tools"], "bearer_methods_supported": ["header"],
                          "resource_name": "Toolwire"});
    for path in ["/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"] {
        let answer = ask(toys.http, "GET", path, &[], "").await;
        let document: Value = serde_json::from_str(&answer.body).unwrap();
        assert_eq!((answer.status, &document), (200, &expected), "{path}");
        assert_eq!(answer.headers["cache-control"], "public, max-age=3600", "{path}");
    }
    let of_resource = issuer.token("8f2c", &["support"], &[("aud", json!(format!("{url}/mcp")))]);
    assert_eq!(asked("/mcp", &[&of_resource]).await.status, 200);
}

#[tokio::test]
async fn a_client_signs_in_at_the_issuers_and_for_the_scopes_in_force() {
    let issuer = Issuer::start().await;
    let mut config = issuer.configured(RULES);
    config.http.public_url = Some("https://tools.example".to_owned());
    let (auth, toys) = (config.auth.clone(), Toys::with(config));
    let mut other = auth.clone();
    other.issuers[0].issuer = "https://login.example".to_owned();
    other.rules[0].scope = Some("desk".to_owned());
    toys.server.app.replace_auth(other).unwrap();
    let path = "/.well-known/oauth-protected-resource/mcp";
    let answer = ask(toys.http, "GET", path, &[], "").await;
    let document: Value = serde_json::from_str(&answer.body).unwrap();
    assert_eq!(document["authorization_servers"], json!(["https://login.example"]));
    assert_eq!(document["scopes_supported"], json!(["desk"]));
    let answer = ask(toys.http, "POST", "/mcp", &[JSON], "{}").await;
    assert!(answer.headers["www-authenticate"].ends_with("scope=\"desk\""), "{answer:?}");
    // Without an issuer there is nowhere to sign in.
    let without = Auth { issuers: Vec::new(), rules: Vec::new(), ..auth };
    toys.server.app.replace_auth(without).unwrap();
    assert_eq!(ask(toys.http, "GET", path, &[], "").await.status, 404);
    let answer = ask(toys.http, "POST", "/mcp", &[JSON], "{}").await;
    assert_eq!((answer.status, answer.headers["www-authenticate"].as_str()), (401, "Bearer"));
}

#[tokio::test]
async fn without_a_public_url_there_is_no_document_and_the_challenge_names_none() {
    let issuer = Issuer::start().await;
    let toys = Toys::with(issuer.configured(RULES));
    let answer = ask(toys.http, "POST", COUNT, &[JSON], "{}").await;
    assert_eq!((answer.status, answer.headers["www-authenticate"].as_str()), (401, "Bearer"));
    let answer = ask(toys.http, "GET", "/.well-known/oauth-protected-resource/mcp", &[], "").await;
    assert_eq!((answer.status, answer.code().as_str()), (404, "UNKNOWN_ROUTE"));
}
