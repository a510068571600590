//! MCP over HTTP: `POST /mcp`, and `POST /mcp/{toolset}` for a part of the tools. The protocol itself is
//! `toolwire_mcp`'s, and the calls are those of the gRPC services within the process, with the user, the arrival and
//! the trace of the request.

mod within_process;

use std::{mem, net::SocketAddr, sync::Arc};

use axum::{
    body::Body as AxumBody,
    extract::{Request, State},
    response::Response,
    routing::{get, post},
};
use bytes::Bytes;
use http::{Method, request::Parts};
use secrecy::ExposeSecret;

use self::within_process::WithinProcess;
use super::{
    grpc::{Face, Routes},
    http::{
        problem::Problem,
        protected_resource,
        query::Query,
        resource_document,
        route::{Http, Route, RuleByHeader},
    },
};
use crate::service::request::refuse;
use toolwire_config::{self as config, Config};
use toolwire_contract::Refusal;
use toolwire_mcp::server::{
    self, Confirmations, Handler, Services, Settings, StateCodec, ToolMode, Transport,
};
use toolwire_transport::{
    Arrival, drain_signal,
    rules::{Pool, Rule},
};

/// A subscription is open for as long as its client is there, and must not use up the quota of calls. Of this revision
/// the header is checked against the message.
const SUBSCRIPTION: RuleByHeader = RuleByHeader {
    headers: &[("mcp-method", "subscriptions/listen"), ("mcp-protocol-version", "2026-07-28")],
    rule: Rule { pool: Pool::Watches, ..Rule::BY_HANDLER },
};

/// The parameter of the query that narrows the tools to those with a tag.
const TAGS: &str = "tags";
/// The parameter of the query that says how the tools are listed.
const MODE: &str = "mode";

pub fn routes() -> Vec<Route> {
    let route = |path| {
        let route = Route::new(Method::POST, path, Rule::BY_HANDLER, post(answer));
        Route { reads_query: true, by_header: Some(SUBSCRIPTION), ..route }
    };
    let resource = |path| Route::new(Method::GET, path, Rule::PUBLIC, get(resource_document::answer));
    let answer_of_toolset = get(resource_document::answer_of_toolset);
    let of_toolset = Route::new(Method::GET, protected_resource::OF_TOOLSET, Rule::PUBLIC, answer_of_toolset);
    vec![
        route("/mcp"),
        route("/mcp/{toolset}"),
        resource(protected_resource::ROOT),
        resource(protected_resource::OF_MCP),
        of_toolset,
    ]
}

/// The face over these services, which are those of the gRPC face.
pub fn handler(face: Face, routes: Routes, config: &Config) -> Handler {
    let services = Services::new(WithinProcess::new(routes), usize::MAX).with_local(Arc::new(face));
    let handler = Handler::new(services, settings(&config.http), Transport::Http);
    handler.with_confirmations(confirmations(config))
}

/// The flags by which a command finds the server that listens there. Of one that listens everywhere only its persons
/// know a name, and only they have their token.
pub fn flags(scheme: &str, at: SocketAddr, wants_token: bool) -> String {
    let token = if wants_token { " --token-file FILE" } else { "" };
    if at.ip().is_unspecified() {
        return format!(" --server {scheme}://HOST:{}{token}", at.port());
    }
    format!(" --server {scheme}://{at}{token}")
}

/// The bounds of what clients are sent.
pub fn settings(http: &config::Http) -> Settings {
    Settings { page: http.mcp_page, max_result_tokens: http.mcp_max_result_tokens }
}

/// How calls are confirmed, as configured.
pub fn confirmations(config: &Config) -> Confirmations {
    let keys: Vec<_> = config.http.state_keys.iter().map(|key| key.expose_secret().as_bytes()).collect();
    let in_client = config.confirmations.in_client.iter().map(ToString::to_string).collect();
    Confirmations { codec: StateCodec::new(&keys), in_client, decide_here: false }
}

async fn answer(State(http): State<Http>, request: Request) -> Result<Response, Problem> {
    let (handler, parts, body) = receive(&http, request).await?;
    Ok(server::http::answer(handler, parts, body).await.map(AxumBody::new))
}

fn read_mode(text: &str) -> Result<ToolMode, Refusal> {
    match text {
        "" => Ok(ToolMode::List),
        _ => ToolMode::parse(text).ok_or_else(|| refuse(MODE, "enum", "must be list or search")),
    }
}

/// The handler of a request, and its body in full: for a route whose own handler wraps this one.
pub async fn receive(http: &Http, request: Request) -> Result<(Handler, Parts, Bytes), Problem> {
    let (mut parts, body) = request.into_parts();
    let query = Query::read(&parts.uri, &[TAGS, MODE])?;
    let (tags, mode) = (query.all(TAGS), read_mode(query.one(MODE)?)?);
    let broken_off = |_| refuse("body", "json", "broke off");
    let body = axum::body::to_bytes(body, usize::MAX).await.map_err(broken_off)?;
    let extensions = mem::take(&mut parts.extensions);
    let drain = drain_signal(&extensions);
    let timeout = extensions.get::<Arrival>().and_then(|arrival| arrival.timeout);
    let mut handler = http.mcp.for_request(extensions, tags, drain).in_mode(mode);
    handler.timeout = timeout;
    Ok((handler, parts, body))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flags_name_the_server_as_far_as_it_knows_its_name() {
        let of = |scheme, at: &str, wants_token| flags(scheme, at.parse().expect("an address"), wants_token);
        assert_eq!(of("http", "127.0.0.1:50051", false), " --server http://127.0.0.1:50051");
        assert_eq!(of("https", "[::]:50051", true), " --server https://HOST:50051 --token-file FILE");
    }
}
