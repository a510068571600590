//! Workloads that present JWT-SVIDs: who they are on every face, what they may, and what ends their streams.

use std::{fs, time::UNIX_EPOCH};

use data_encoding::BASE64URL_NOPAD;
use ring::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair},
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tonic::{Request, Status};
use toolwire::{
    base::clock,
    config::{Auth, Config, Flags, testing},
    contract::proto::v1::{
        CallToolRequest, ListRecordsRequest, audit_service_client::AuditServiceClient, call_tool_request,
        tool_service_client::ToolServiceClient,
    },
};

use crate::{
    http::{
        issuers::Issuer,
        raw::{Raw, ask},
        toys::{CALL, COUNT, Toys, WATCH},
    },
    support::server::{Server, config_with_http},
};

const JSON: &str = "content-type: application/json";
const AGENT: &str = "spiffe://example.org/ns/shop/sa/agent";
const ENTRY: &str =
    "[[auth.spiffe]]\nid = 'spiffe://example.org/ns/*/sa/agent'\nuser = 'agent'\ngroups = ['agents']\n";
const RULE: &str = "[[auth.rules]]\nwho = ['spiffe:example.org/ns/*/sa/agent']\ntools = ['*']\n";

/// The trust domain `example.org`: its key, and its bundle in a file.
pub(crate) struct TrustDomain {
    folder: TempDir,
    key: EcdsaKeyPair,
}

impl TrustDomain {
    pub(crate) fn new() -> Self {
        let (random, algorithm) = (SystemRandom::new(), &ECDSA_P256_SHA256_FIXED_SIGNING);
        let document = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        let key = EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random).unwrap();
        let domain = Self { folder: tempfile::tempdir().unwrap(), key };
        let (x, y) = domain.key.public_key().as_ref()[1..].split_at(32);
        let (x, y) = (BASE64URL_NOPAD.encode(x), BASE64URL_NOPAD.encode(y));
        let key = json!({"kty": "EC", "crv": "P-256", "kid": "k1", "use": "jwt-svid", "x": x, "y": y});
        let of_x509 =
            json!({"kty": "EC", "crv": "P-256", "use": "x509-svid", "x": x, "y": y, "x5c": ["MIIB"]});
        let bundle = json!({"keys": [of_x509, key], "spiffe_sequence": 1});
        fs::write(domain.folder.path().join("bundle.json"), bundle.to_string()).unwrap();
        domain
    }

    /// A token of the workload, with these claims instead of the usual ones.
    pub(crate) fn token(&self, sub: &str, change: &[(&str, Value)]) -> String {
        let now = now();
        let mut claims = json!({"aud": ["toolwire"], "sub": sub, "iat": now, "exp": now + 300});
        for (name, value) in change {
            claims[*name] = value.clone();
        }
        let encode = |value: &Value| BASE64URL_NOPAD.encode(value.to_string().as_bytes());
        let signed =
            format!("{}.{}", encode(&json!({"alg": "ES256", "kid": "k1", "typ": "JWT"})), encode(&claims));
        let signature = self.key.sign(&SystemRandom::new(), signed.as_bytes()).unwrap();
        format!("{signed}.{}", BASE64URL_NOPAD.encode(signature.as_ref()))
    }

    /// Its entry in a file.
    pub(crate) fn entry(&self) -> String {
        let bundle = self.folder.path().join("bundle.json");
        format!(
            "[[auth.trust_domains]]\nname = 'example.org'\naudience = ['toolwire']\njwks_file = '{}'\n",
            bundle.display()
        )
    }

    /// A server that knows its workloads by the entries of the rest.
    fn configured(&self, rest: &str) -> Config {
        configured(self.auth(rest))
    }

    fn auth(&self, rest: &str) -> Auth {
        auth(&format!("{}{rest}", self.entry()))
    }
}

fn auth(file: &str) -> Auth {
    testing::load_text(file, &[], Flags::default(), &[]).unwrap().config.auth
}

fn configured(auth: Auth) -> Config {
    let mut config = config_with_http();
    config.auth = auth;
    config
}

pub(crate) fn now() -> u64 {
    clock::wall().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

fn bearer(token: &str) -> String {
    format!("authorization: Bearer {token}")
}

#[tokio::test]
async fn a_workload_is_the_user_of_its_entry_by_its_token() {
    let domain = TrustDomain::new();
    let toys = Toys::with(domain.configured(&format!("{ENTRY}{RULE}")));
    let path = format!("{CALL}/get_quotes");
    let call = async |token: &str| {
        let answer = ask(toys.http, "POST", &path, &[JSON, &bearer(token)], r#"{"symbol": "AAPL"}"#).await;
        (answer.status, if answer.status == 200 { String::new() } else { answer.body })
    };
    assert_eq!(call(&domain.token(AGENT, &[])).await, (200, String::new()));
    let stranger = TrustDomain::new();
    for (token, words) in [
        (
            domain.token("spiffe://example.org/ns/shop/sa/other", &[]),
            "of a workload that this server does not know",
        ),
        (
            domain.token("spiffe://example.com/ns/shop/sa/agent", &[]),
            "of a trust domain that this server does not",
        ),
        (domain.token("spiffe://example.org", &[]), "begins like a SPIFFE id and is none"),
        (domain.token("agent", &[]), "of an issuer that this server does not know"),
        (domain.token(AGENT, &[("aud", json!(["else"]))]), "the token is for another audience"),
        (domain.token(AGENT, &[("aud", json!(null))]), "the token is for another audience"),
        (domain.token(AGENT, &[("exp", json!(1))]), "the token has expired"),
        (stranger.token(AGENT, &[]), "the token's signature is wrong"),
    ] {
        let (status, body) = call(&token).await;
        assert!(
            status == 401 && body.contains("CREDENTIALS_REJECTED") && body.contains(words),
            "{words}: {body}"
        );
    }
    // There is no issuer at which a client could sign in.
    let path = "/.well-known/oauth-protected-resource/mcp";
    assert_eq!(ask(toys.http, "GET", path, &[], "").await.status, 404);
}

#[tokio::test]
async fn the_issuer_of_the_claim_iss_decides_before_the_trust_domain_of_the_subject() {
    let (issuer, domain) = (Issuer::start().await, TrustDomain::new());
    let file = format!(
        "[[auth.issuers]]\nname = 'corp'\nissuer = '{}'\naudience = ['toolwire']\n{}{ENTRY}{RULE}",
        issuer.server.uri(),
        domain.entry()
    );
    let toys = Toys::with(configured(auth(&file)));
    let call = async |header: &str| {
        ask(toys.http, "POST", &format!("{CALL}/get_quotes"), &[JSON, header], r#"{"symbol": "AAPL"}"#).await
    };
    let uri = json!(issuer.server.uri());
    for (header, code) in [
        (bearer(&domain.token(AGENT, &[])), ""),
        (bearer(&domain.token(AGENT, &[("iss", json!("https://oidc.example"))])), ""),
        (bearer(&domain.token(AGENT, &[("iss", uri)])), "CREDENTIALS_REJECTED"),
        // The issuer's user has the claim as a name, and is no workload.
        (issuer.token(AGENT, &[], &[]), "TOOL_NOT_ALLOWED"),
        (issuer.token(AGENT, &[], &[("iss", json!("https://oidc.example"))]), "CREDENTIALS_REJECTED"),
    ] {
        let answer = call(&header).await;
        let found = if answer.status == 200 { String::new() } else { answer.code() };
        assert_eq!(found, code, "{answer:?}");
    }
}

async fn watch(toys: &Toys, token: &str) -> Raw {
    let mut watch = Raw::connect(toys.http).await;
    watch.ask("GET", WATCH, &[&bearer(token)], "").await;
    watch.until("event: first").await;
    watch
}

#[tokio::test]
async fn a_watch_ends_with_the_token_of_its_workload() {
    let domain = TrustDomain::new();
    let toys = Toys::with(domain.configured(&format!("{ENTRY}{RULE}")));
    // Its leeway ends in a second or two.
    let mut watch = watch(&toys, &domain.token(AGENT, &[("exp", json!(now() - 28))])).await;
    watch.until("\"code\":\"CREDENTIALS_REJECTED\"").await;
    watch.until("0\r\n\r\n").await;
}

type Change<'a> = &'a dyn Fn(&mut Auth);

#[tokio::test]
async fn a_changed_or_removed_trust_domain_ends_what_was_let_in() {
    let domain = TrustDomain::new();
    let auth = domain.auth(&format!("{ENTRY}{RULE}"));
    let toys = Toys::with(configured(auth.clone()));
    let token = domain.token(AGENT, &[]);
    let status = async || ask(toys.http, "POST", COUNT, &[JSON, &bearer(&token)], "{}").await;
    let changes: [(Change<'_>, &str, &str); 4] = [
        (
            &|it| it.trust_domains.clear(),
            "trust domain removed: example.org",
            "trust domain that this server does not",
        ),
        (
            &|it| it.trust_domains[0].tokens.audience = vec!["else".to_owned()],
            "trust domain changed: example.org",
            "for another audience",
        ),
        (
            &|it| it.trust_domains[0].tokens.algorithms.truncate(1),
            "trust domain changed: example.org",
            "by an algorithm that this server does not accept",
        ),
        (
            &|it| it.workloads[0].id = "spiffe://example.org/other".parse().unwrap(),
            "workload added: spiffe://example.org/other",
            "of a workload that this server does not know",
        ),
    ];
    for (change, told, words) in changes {
        toys.server.app.replace_auth(auth.clone()).unwrap();
        assert_eq!(status().await.status, 200);
        let mut watch = watch(&toys, &token).await;
        let mut other = auth.clone();
        change(&mut other);
        let lines = toys.server.app.replace_auth(other).unwrap();
        assert!(lines.iter().any(|it| it == told), "{lines:?}");
        watch.until("\"code\":\"CREDENTIALS_REJECTED\"").await;
        let answer = status().await;
        assert!(answer.status == 401 && answer.body.contains(words), "{answer:?}");
    }
    // With the same settings the token goes on, by the keys that are at hand.
    toys.server.app.replace_auth(auth.clone()).unwrap();
    let mut watch = watch(&toys, &token).await;
    let mut more = auth.clone();
    more.trust_domains[0].tokens.audience.push("more".to_owned());
    toys.server.app.replace_auth(more).unwrap();
    assert_eq!(status().await.status, 200);
    let mut without = auth;
    without.rules.clear();
    toys.server.app.replace_auth(without).unwrap();
    assert!(!watch.until("\"code\":\"RIGHT_WITHDRAWN\"").await.contains("CREDENTIALS"));
}

/// A write by a token, and who did it by the audit: how that is known, and the workload.
async fn write(server: &Server, token: &str, peer: Option<&str>) -> Result<(String, String), Status> {
    fn with<T>(message: T, token: &str, peer: Option<&str>) -> Request<T> {
        let mut request = Request::new(message);
        request.metadata_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
        if let Some(id) = peer {
            let value = format!("Hash={};URI={id}", "a".repeat(64));
            request.metadata_mut().insert("x-forwarded-client-cert", value.parse().unwrap());
        }
        request
    }
    let channel = server.channel().await;
    let call = CallToolRequest {
        target: Some(call_tool_request::Target::Tool("debug_write".to_owned())),
        input: Some(call_tool_request::Input::ArgumentsJson(json!({"value": "x"}).to_string())),
        request_id: uuid::Uuid::new_v4().to_string(),
        ..CallToolRequest::default()
    };
    ToolServiceClient::new(channel.clone()).call_tool(with(call, token, peer)).await?;
    let listing = ListRecordsRequest { page_size: 1, ..ListRecordsRequest::default() };
    let records = AuditServiceClient::new(channel).list_records(with(listing, token, peer)).await?;
    let record = records.into_inner().records.remove(0);
    assert_eq!(record.user_id, "agent");
    Ok((record.known_by, record.workload))
}

#[tokio::test]
async fn beside_a_certificate_the_user_is_the_tokens_and_the_peer_is_recorded() {
    let domain = TrustDomain::new();
    let gateway = "spiffe://example.org/gateway";
    let rules = format!(
        "[auth]\ntrusted_proxies = ['127.0.0.1']\n{}{ENTRY}\
         [[auth.spiffe]]\nid = '{gateway}'\nuser = 'gateway'\n\
         [[auth.rules]]\nwho = ['group:agents']\nvia = ['spiffe:example.org/gateway']\ntools = ['debug_write']\n",
        domain.entry()
    );
    let server = Server::with(configured(auth(&rules)));
    let token = domain.token(AGENT, &[]);
    let known = |workload: &str| ("jwt_svid".to_owned(), workload.to_owned());
    assert_eq!(write(&server, &token, Some(gateway)).await.unwrap(), known(gateway));
    // A token is no certificate.
    assert!(write(&server, &token, None).await.unwrap_err().message().contains("not allowed to call"));
    let status = write(&server, &domain.token("spiffe://example.org/x", &[]), Some(AGENT)).await.unwrap_err();
    assert!(status.message().contains("of a workload that this server does not know"), "{status:?}");
    let server = Server::with(domain.configured(&format!("{ENTRY}{RULE}")));
    assert_eq!(write(&server, &token, None).await.unwrap(), known(AGENT));
}
