//! Who a client is by what a proxy says of its certificate: believed from trusted addresses, and hidden from everybody
//! below.

use std::collections::BTreeMap;

use axum::{extract::Request, routing::get};
use futures_util::TryStreamExt;
use http::Method;
use serde_json::{Value, json};
use tempfile::TempDir;
use tonic::{Code, Request as GrpcRequest, Status};
use tonic_types::StatusExt;
use toolwire::{
    config::{Flags, testing},
    contract::proto::v1::{ListToolsRequest, tool_service_client::ToolServiceClient},
    domains,
    server::{app::App, domain::Domain, faces::http::route::Route},
    transport::rules::{Access, Rule},
};

use crate::{
    http::raw::{Answer, ask},
    support::server::{Server, config_with_http, definition},
};

const HEADER: &str = "x-forwarded-client-cert";
const HASH: &str = "Hash=468ed33be74eee6556d90c0149c1309e9ba61d6425303443c0748a02dd8de688";
const AGENT: &str = "spiffe://example.org/ns/shop/sa/agent";
const TOKEN: &str = "a-long-enough-t0ken";

/// Answers which headers of the request are left, to users and to all.
const HEADERS: &str = "/toys/headers";
const PUBLIC: &str = "/toys/public";

async fn headers(request: Request) -> String {
    let pairs = request.headers().iter().map(|(name, value)| (name.to_string(), format!("{value:?}")));
    json!(pairs.collect::<BTreeMap<_, _>>()).to_string()
}

fn routes() -> Vec<Route> {
    let public = Rule { access: Access::Public, ..Rule::USER };
    vec![
        Route::new(Method::GET, HEADERS, Rule::USER, get(headers)),
        Route::new(Method::GET, PUBLIC, public, get(headers)),
    ]
}

/// A server whose users are a workload and riley, and which believes these proxies.
fn start(trusted_proxies: &str) -> (Server, TempDir) {
    let file = format!(
        "[auth]\ntrusted_proxies = [{trusted_proxies}]\n[[auth.users]]\nuser_id = 'riley'\ntoken = '{TOKEN}'\n\
         [[auth.spiffe]]\nid = 'spiffe://example.org/ns/*/sa/agent'\nuser = 'agent'\n\
         [[auth.rules]]\nwho = ['user:agent']\ntools = ['get_quotes']\n"
    );
    let state = tempfile::tempdir().unwrap();
    let mut config = config_with_http();
    config.auth = testing::load_text(&file, &[], Flags::default(), &[]).unwrap().config.auth;
    config.http.public_url = Some("https://localhost".to_owned());
    config.state.dir = Some(state.path().to_owned());
    let toys = Domain { routes, ..Domain::new("toys") };
    let domains: Vec<_> = domains::bundled().into_iter().chain([toys]).collect();
    (Server::of(App::build(&config, &domains).unwrap(), config), state)
}

/// The names of the tools for a caller over gRPC with these headers.
async fn tools(server: &Server, headers: &[(&'static str, &str)]) -> Result<Vec<String>, Status> {
    let mut request = GrpcRequest::new(ListToolsRequest::default());
    for (name, value) in headers {
        request.metadata_mut().append(*name, value.parse().unwrap());
    }
    let answer = ToolServiceClient::new(server.channel().await).list_tools(request).await?;
    answer.into_inner().map_ok(|it| definition(&it.tool).name).try_collect().await
}

async fn over_http(server: &Server, path: &str, headers: &[(&str, &str)]) -> Answer {
    let lines: Vec<_> = headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    let lines: Vec<_> = lines.iter().map(String::as_str).collect();
    ask(server.http.unwrap(), "GET", path, &lines, "").await
}

#[tokio::test]
async fn a_trusted_proxy_says_whose_certificate_it_verified() {
    let (server, _state) = start("'127.0.0.0/8'");
    let element = format!("By=spiffe://example.org/proxy;{HASH};Subject=\"\";URI={AGENT}");
    let forged = format!("{HASH};URI=spiffe://example.org/ns/x/sa/other,{element}");
    for value in [&element, &forged] {
        assert_eq!(tools(&server, &[(HEADER, value)]).await.unwrap(), ["get_quotes"], "{value}");
        assert_eq!(over_http(&server, "/v1/tools", &[(HEADER, value)]).await.status, 200);
    }
    // Of two fields the last counts, which the proxy added.
    let other = format!("{HASH};URI=spiffe://example.org/other");
    assert!(tools(&server, &[(HEADER, &other), (HEADER, &element)]).await.is_ok());
    let status = tools(&server, &[(HEADER, &element), (HEADER, &other)]).await.unwrap_err();
    assert!(status.message().contains("of a workload that this server does not know"), "{status:?}");
    // A token beside it is the user, and a bad one is not replaced.
    let bearer = format!("Bearer {TOKEN}");
    assert!(tools(&server, &[(HEADER, &element), ("authorization", &bearer)]).await.unwrap().len() > 10);
    let status = tools(&server, &[(HEADER, &element), ("authorization", "Bearer wrong")]).await.unwrap_err();
    assert_eq!(status.code(), Code::Unauthenticated);
    // Without the header nothing is proven.
    let status = tools(&server, &[]).await.unwrap_err();
    assert_eq!(status.get_details_error_info().unwrap().reason, "CREDENTIALS_MISSING");
    let status = tools(&server, &[(HEADER, AGENT)]).await.unwrap_err();
    assert!(status.message().contains("x-forwarded-client-cert cannot be read"), "{status:?}");
}

#[tokio::test]
async fn from_anybody_else_the_header_proves_nothing() {
    let (server, _state) = start("'192.0.2.0/24', '2001:db8::1'");
    let value = format!("{HASH};URI={AGENT}");
    let status = tools(&server, &[(HEADER, &value)]).await.unwrap_err();
    assert_eq!(status.get_details_error_info().unwrap().reason, "CREDENTIALS_MISSING");
    let answer = over_http(&server, HEADERS, &[(HEADER, &value)]).await;
    assert_eq!((answer.status, answer.code().as_str()), (401, "CREDENTIALS_MISSING"));
    let bearer = format!("Bearer {TOKEN}");
    assert!(tools(&server, &[(HEADER, &value), ("authorization", &bearer)]).await.unwrap().len() > 10);
}

#[tokio::test]
async fn no_route_sees_the_header() {
    for proxies in ["'127.0.0.1'", "'192.0.2.1'"] {
        let (server, _state) = start(proxies);
        let (value, bearer) = (format!("{HASH};URI={AGENT}"), format!("Bearer {TOKEN}"));
        let sent = [(HEADER, value.as_str()), (HEADER, "x"), ("authorization", &bearer), ("x-kept", "yes")];
        for path in [HEADERS, PUBLIC] {
            let answer = over_http(&server, path, &sent).await;
            let left: Value = serde_json::from_str(&answer.body).unwrap();
            assert!(left.get("x-kept").is_some() && left.get(HEADER).is_none(), "{path}: {left}");
        }
    }
}
