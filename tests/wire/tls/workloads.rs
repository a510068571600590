//! Who a client is by its certificate, on both listeners: which are accepted, which are refused and with which words,
//! what a token beside one means, and how the authorities are replaced.

use std::{collections::BTreeSet, fs, io, sync::Arc};

use futures_util::TryStreamExt;
use rustls::{ClientConfig, HandshakeKind, pki_types::ServerName};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use tokio_rustls::{TlsConnector, client::TlsStream};
use tonic::{
    Code, Request, Status,
    transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity},
};
use tonic_types::StatusExt;
use toolwire::contract::proto::v1::{
    AuditRecord, CallToolRequest, ListRecordsRequest, ListToolsRequest,
    audit_service_client::AuditServiceClient, call_tool_request, tool_service_client::ToolServiceClient,
};

use crate::{
    hosts::host::{Host, offer},
    support::{authority::Authority, program::Program, server::definition},
};

mod reload;

const AGENT: &str = "spiffe://example.org/ns/shop/sa/agent";
const RILEY: &str = "a-long-enough-t0ken";

/// The program, with an authority that it trusts and one that it does not.
struct Mesh {
    program: Program,
    authority: Authority,
    stranger: Authority,
    directory: TempDir,
}

/// The PEM of a client's certificate and of its key.
type Pair = (String, String);

impl Mesh {
    async fn start(client_auth: &str) -> Self {
        let (authority, stranger) = (Authority::new(), Authority::new());
        let directory = tempfile::tempdir().unwrap();
        authority.sign("localhost");
        fs::copy(authority.file("ca.pem"), directory.path().join("clients.pem")).unwrap();
        let text = format!(
            "[server.tls]\ncert = '{}'\nkey = '{}'\nclient_ca = 'clients.pem'\nclient_auth = '{client_auth}'\n\
             [http]\npublic_url = 'https://localhost'\n\
             [[auth.users]]\nuser_id = 'riley'\ntoken = '{RILEY}'\n\
             [[auth.spiffe]]\nid = 'spiffe://example.org/ns/*/sa/agent'\nuser = 'agent'\ngroups = ['agents']\n\
             [[auth.rules]]\nwho = ['group:agents']\ntools = ['get_quotes', 'debug_write']\n\
             [providers.shop]\nkind = 'host'\nspiffe = 'spiffe://example.org/ns/*/sa/shop'\n",
            authority.file("cert.pem").display(),
            authority.file("key.pem").display(),
        );
        fs::write(directory.path().join("toolwire.toml"), text).unwrap();
        let program = Program::start(directory.path(), &["--http=127.0.0.1:0"], &[]).await;
        Self { program, authority, stranger, directory }
    }

    fn pair(&self, uris: &[&str]) -> Pair {
        self.authority.sign_client(uris, 2100)
    }

    async fn channel(&self, pair: Option<&Pair>) -> Channel {
        let mut tls = ClientTlsConfig::new().ca_certificate(Certificate::from_pem(self.authority.pem()));
        if let Some((cert, key)) = pair {
            tls = tls.identity(Identity::from_pem(cert, key));
        }
        let url = format!("https://localhost:{}", self.program.address.port());
        Endpoint::from_shared(url).unwrap().tls_config(tls).unwrap().connect().await.unwrap()
    }

    /// The names of the tools that there are for a caller over gRPC.
    async fn tools(&self, pair: Option<&Pair>, token: Option<&str>) -> Result<Vec<String>, Status> {
        list(self.channel(pair).await, token).await
    }

    /// What `GET /v1/tools` answers over HTTP.
    async fn over_http(&self, pair: Option<&Pair>, token: Option<&str>) -> (u16, Value) {
        let client =
            reqwest::Client::builder().tls_backend_preconfigured(self.authority.client(pair)).no_proxy();
        let url = format!("https://localhost:{}/v1/tools", self.program.http.unwrap().port());
        let mut request = client.build().unwrap().get(url);
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        let answer = request.send().await.unwrap();
        (answer.status().as_u16(), serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap())
    }

    /// A connection on which a request was answered.
    async fn connect(&self, config: Arc<ClientConfig>) -> io::Result<TlsStream<TcpStream>> {
        let stream = TcpStream::connect(self.program.http.unwrap()).await?;
        let name = ServerName::try_from("localhost").unwrap();
        let mut stream = TlsConnector::from(config).connect(name, stream).await?;
        stream.write_all(b"GET /v1/tools HTTP/1.1\r\nhost: localhost\r\n\r\n").await?;
        stream.read_exact(&mut [0; 12]).await?;
        Ok(stream)
    }
}

fn with<T>(message: T, token: Option<&str>) -> Request<T> {
    let mut request = Request::new(message);
    if let Some(token) = token {
        request.metadata_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
    }
    request
}

async fn list(channel: Channel, token: Option<&str>) -> Result<Vec<String>, Status> {
    let answer = ToolServiceClient::new(channel).list_tools(with(ListToolsRequest::default(), token)).await?;
    answer.into_inner().map_ok(|it| definition(&it.tool).name).try_collect().await
}

fn reason(status: &Status) -> String {
    status.get_details_error_info().expect("a reason").reason
}

#[tokio::test]
async fn a_workload_is_the_user_of_its_entry_and_a_token_beside_it_is_that_of_its_own() {
    let mesh = Mesh::start("optional").await;
    let agent = mesh.pair(&[AGENT]);
    let own = ["debug_write", "get_quotes"].map(Value::from);
    assert_eq!(mesh.tools(Some(&agent), None).await.unwrap(), ["debug_write", "get_quotes"]);
    let (status, listed) = mesh.over_http(Some(&agent), None).await;
    let names: Vec<_> = listed["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!((status, names), (200, own.iter().collect()));

    for pair in [Some(&agent), None, Some(&mesh.pair(&["spiffe://example.com/other"]))] {
        assert!(mesh.tools(pair, Some(RILEY)).await.unwrap().len() > 10, "riley may call all");
        assert_eq!(mesh.over_http(pair, Some(RILEY)).await.0, 200);
    }
    // A bad token is never replaced by a certificate.
    for token in ["wrong", "a.b.c"] {
        let status = mesh.tools(Some(&agent), Some(token)).await.unwrap_err();
        assert_eq!(
            (status.code(), reason(&status).as_str()),
            (Code::Unauthenticated, "CREDENTIALS_REJECTED")
        );
        let (status, problem) = mesh.over_http(Some(&agent), Some(token)).await;
        assert_eq!((status, &problem["code"]), (401, &json!("CREDENTIALS_REJECTED")));
    }
    let status = mesh.tools(None, None).await.unwrap_err();
    assert_eq!((status.code(), reason(&status).as_str()), (Code::Unauthenticated, "CREDENTIALS_MISSING"));
    assert_eq!(mesh.over_http(None, None).await.0, 401);
}

#[tokio::test]
async fn a_certificate_that_names_no_known_workload_is_refused_with_a_word() {
    let mut mesh = Mesh::start("optional").await;
    let mut logged = BTreeSet::new();
    for (uris, words, word, id) in [
        (&[][..], "names no SPIFFE id", "no_spiffe_id", None),
        (&[AGENT, "spiffe://example.org/ns/x/sa/agent"], "names several URIs", "several_uris", None),
        (&[AGENT, AGENT], "names several URIs", "several_uris", None),
        (&["https://example.org/ns/shop/sa/agent"], "is no SPIFFE id", "not_spiffe_id", None),
        (&["spiffe://example.org/ns/%2e%2e/sa/agent"], "is no SPIFFE id", "not_spiffe_id", None),
        (
            &["spiffe://example.com/ns/shop/sa/agent"],
            "of a trust domain that this server does not know",
            "foreign_trust_domain",
            Some("spiffe://example.com/ns/shop/sa/agent"),
        ),
        (
            &["spiffe://example.org/ns/shop/sa/other"],
            "of a workload that this server does not know",
            "unknown_workload",
            Some("spiffe://example.org/ns/shop/sa/other"),
        ),
    ] {
        let pair = mesh.pair(uris);
        let status = mesh.tools(Some(&pair), None).await.unwrap_err();
        assert_eq!(
            (status.code(), reason(&status).as_str()),
            (Code::Unauthenticated, "CREDENTIALS_REJECTED")
        );
        assert!(status.message().contains(words), "{status:?}");
        let (status, problem) = mesh.over_http(Some(&pair), None).await;
        assert!(status == 401 && problem.to_string().contains(words), "{problem}");
        // What is refused for the same reason within a minute has no line.
        if !logged.insert(word) {
            continue;
        }
        for face in ["grpc", "http"] {
            let (line, _) = mesh.program.wait_for_log("a client certificate is refused").await;
            assert_eq!((line["reason"].as_str(), line["workload"].as_str()), (Some(word), id), "{line}");
            assert_eq!(line["face"], face);
        }
    }
}

#[tokio::test]
async fn a_certificate_that_is_not_valid_ends_the_handshake_with_a_word() {
    let mut mesh = Mesh::start("required").await;
    let expired = mesh.authority.sign_client(&[AGENT], 2020);
    let strange = mesh.stranger.sign_client(&[AGENT], 2100);
    for (pair, alert, word) in [
        (Some(&expired), "CertificateExpired", "expired_certificate"),
        (Some(&strange), "DecryptError", "certificate_of_unknown_authority"),
        (None, "CertificateRequired", "no_certificate"),
    ] {
        let error = mesh.connect(Arc::new(mesh.authority.client(pair))).await.unwrap_err();
        assert!(format!("{error:?}").contains(alert), "{error:?}");
        let (line, _) = mesh.program.wait_for_log("the TLS handshake failed").await;
        assert_eq!(line["reason"], word, "{line}");
    }
    assert_eq!(mesh.over_http(Some(&mesh.pair(&[AGENT])), None).await.0, 200);
}

#[tokio::test]
async fn the_authorities_are_replaced_while_serving_and_no_session_outlives_them() {
    let mesh = Mesh::start("required").await;
    let (agent, strange) = (mesh.pair(&[AGENT]), mesh.stranger.sign_client(&[AGENT], 2100));
    let (of_agent, of_stranger) =
        (Arc::new(mesh.authority.client(Some(&agent))), Arc::new(mesh.authority.client(Some(&strange))));
    let open = mesh.channel(Some(&agent)).await;
    for _ in 0..2 {
        let stream = mesh.connect(Arc::clone(&of_agent)).await.unwrap();
        assert_eq!(stream.get_ref().1.handshake_kind(), Some(HandshakeKind::Full));
    }

    fs::copy(mesh.stranger.file("ca.pem"), mesh.directory.path().join("clients.pem")).unwrap();
    while mesh.connect(Arc::clone(&of_stranger)).await.is_err() {}
    assert!(mesh.connect(of_agent).await.is_err());
    assert_eq!(list(open, None).await.unwrap().len(), 2, "an open connection goes on");
}

#[tokio::test]
async fn an_authority_that_has_expired_is_trusted_and_told() {
    let mut mesh = Mesh::start("required").await;
    let expired = Authority::until(2020);
    let both = format!("{}{}", mesh.authority.pem(), expired.pem());
    fs::write(mesh.directory.path().join("clients.pem"), both).unwrap();
    let (line, _) = mesh.program.wait_for_log("an authority of client certificates is not valid now").await;
    assert_eq!((&line["file"], &line["certificate"]), (&json!("clients.pem"), &json!(2)), "{line}");
    assert_eq!(line["why"], "it expired at 2020-01-01T00:00:00Z");
    assert_eq!(line["subject"], "CN=rcgen self signed cert");
    mesh.program.wait_for_log("a new certificate is served").await;
    let agent = expired.sign_client(&[AGENT], 2100);
    assert_eq!(mesh.over_http(Some(&mesh.pair(&[AGENT])), None).await.0, 200);
    while mesh.connect(Arc::new(mesh.authority.client(Some(&agent)))).await.is_err() {}
}

#[tokio::test]
async fn the_audit_has_the_workload_beside_whoever_the_user_is() {
    let mesh = Mesh::start("optional").await;
    let agent = mesh.pair(&[AGENT]);
    for (pair, token, known_by, workload) in [
        (Some(&agent), None, "certificate", AGENT),
        (Some(&agent), Some(RILEY), "token", AGENT),
        (None, Some(RILEY), "token", ""),
    ] {
        let channel = mesh.channel(pair).await;
        let call = CallToolRequest {
            target: Some(call_tool_request::Target::Tool("debug_write".to_owned())),
            input: Some(call_tool_request::Input::ArgumentsJson(json!({"value": "x"}).to_string())),
            request_id: uuid::Uuid::new_v4().to_string(),
            ..CallToolRequest::default()
        };
        ToolServiceClient::new(channel.clone()).call_tool(with(call, token)).await.unwrap();
        let listing = ListRecordsRequest { page_size: 1, ..ListRecordsRequest::default() };
        let records = AuditServiceClient::new(channel).list_records(with(listing, token)).await.unwrap();
        let [AuditRecord { known_by: known, workload: proven, .. }] = &records.into_inner().records[..]
        else {
            panic!("one record")
        };
        assert_eq!((known.as_str(), proven.as_str()), (known_by, workload));
    }
}

/// A browser presents its certificate whichever page makes a request, and under whichever name the page came.
#[tokio::test]
async fn no_page_of_another_origin_acts_by_the_certificate_of_its_browser() {
    let mesh = Mesh::start("required").await;
    let port = mesh.program.http.unwrap().port();
    let browser = mesh.authority.client(Some(&mesh.pair(&[AGENT])));
    let client = reqwest::Client::builder().tls_backend_preconfigured(browser).no_proxy().build().unwrap();
    let ask = async |method: &str, headers: &[(&str, &str)]| {
        let url = format!("https://localhost:{port}/v1/tools/get_quotes:call");
        let mut request = client.request(method.parse().unwrap(), url).body(r#"{"symbol": "AAPL"}"#);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let answer = request.send().await.unwrap();
        let allows = answer.headers().contains_key("access-control-allow-origin");
        (answer.status().as_u16(), allows, answer.text().await.unwrap())
    };
    let json = ("content-type", "application/json");
    let own = format!("https://localhost:{port}");
    for origin in ["https://localhost", &own] {
        let (_, allows, text) = ask("POST", &[json, ("origin", origin)]).await;
        assert!(allows && !text.contains("FOREIGN"), "{origin}: {text}");
    }
    for origin in [
        "https://evil.example",
        "null",
        "http://localhost",
        "https://localhost:1",
        "https://localhost.evil.example",
    ] {
        for kind in [json, ("content-type", "text/plain")] {
            let (status, allows, text) = ask("POST", &[kind, ("origin", origin)]).await;
            assert!(status == 403 && !allows && text.contains("FOREIGN_ORIGIN"), "{origin}: {text}");
        }
        let preflight = [("origin", origin), ("access-control-request-method", "POST")];
        assert!(matches!(ask("OPTIONS", &preflight).await, (403, false, _)), "{origin}");
    }
    for host in ["evil.example", "127.0.0.1", "localhost.evil.example"] {
        let page = format!("https://{host}");
        let (status, _, text) = ask("POST", &[json, ("host", host), ("origin", &page)]).await;
        assert!(status == 403 && text.contains("FOREIGN_HOST"), "{host}: {text}");
    }
    // For a link or an image a browser names no page, but says how it relates to this server.
    for (site, is_foreign) in
        [("cross-site", true), ("same-site", true), ("same-origin", false), ("none", false)]
    {
        let (status, allows, text) = ask("GET", &[("sec-fetch-site", site)]).await;
        assert_eq!(text.contains("FOREIGN_ORIGIN"), is_foreign, "{site}: {text}");
        assert!(!allows && (status == 403) == is_foreign, "{site}: {status}");
    }
    // A link leads to the console, which shows nothing without a user, and nothing of it is embedded.
    let console = format!("https://localhost:{port}/");
    for (destination, status) in [("document", 200), ("iframe", 403), ("image", 403)] {
        let request = client.get(&console).header("sec-fetch-site", "cross-site");
        let request = request.header("sec-fetch-mode", "navigate").header("sec-fetch-dest", destination);
        assert_eq!(request.send().await.unwrap().status(), status, "{destination}");
    }
    // The port of gRPC answers no question of a browser beforehand, and takes nothing that needs none.
    let grpc = format!("https://localhost:{}/toolwire.v1.ToolService/ListTools", mesh.program.address.port());
    for (method, kind) in
        [("OPTIONS", ""), ("POST", "text/plain"), ("POST", "application/x-www-form-urlencoded")]
    {
        let request = client.request(method.parse().unwrap(), &grpc).header("origin", "https://evil.example");
        let answer = request.header("content-type", kind).body("x").send().await.unwrap();
        assert!(
            !answer.status().is_success() && !answer.headers().contains_key("access-control-allow-origin")
        );
    }
}

#[tokio::test]
async fn a_host_of_a_provider_is_known_by_its_certificate_which_opens_nothing_else() {
    let mesh = Mesh::start("optional").await;
    let shop = mesh.pair(&["spiffe://example.org/ns/a/sa/shop"]);
    let mut host = Host::dial_over(mesh.channel(Some(&shop)).await, None, "c1").await.unwrap();
    assert_eq!(host.greet(vec![offer("order_status")]).await.unwrap().accepted, 1);
    let status = mesh.tools(Some(&shop), None).await.unwrap_err();
    assert_eq!((status.code(), reason(&status).as_str()), (Code::Unauthenticated, "CREDENTIALS_REJECTED"));
    let agent = mesh.pair(&[AGENT]);
    for (pair, token) in
        [(Some(&agent), None), (Some(&shop), Some("wrong")), (Some(&shop), Some(RILEY)), (None, None)]
    {
        let status = Host::dial_over(mesh.channel(pair).await, token, "c1").await.map(drop).unwrap_err();
        assert_eq!(status.code(), Code::Unauthenticated, "{token:?}");
    }
}
