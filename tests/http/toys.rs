//! Routes that do one thing each, and the server that has them.

use std::net::SocketAddr;

use axum::{
    body::{Body, Bytes},
    extract::{Path, Request, State},
    response::Response,
    routing::{get, post},
};
use futures_util::{StreamExt, stream};
use http::Method;
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use toolwire::{
    config::Config,
    domains,
    engine::pipeline::Target,
    server::{
        app::App,
        domain::Domain,
        faces::{
            http::{
                problem::Problem,
                route::{Http, Route},
                sse::{self, Event},
            },
            incoming,
        },
    },
    transport::rules::{Access, Messages, Rule},
};

use crate::support::server::{Server, config_with_http};

/// Answers `"ready"`.
pub(crate) const READY: &str = "/toys/ready";
/// Answers how many bytes came.
pub(crate) const COUNT: &str = "/toys/count";
/// The same of a body that is read as it comes.
pub(crate) const UPLOAD: &str = "/toys/upload";
/// Calls the tool that is named last, with the body as its arguments.
pub(crate) const CALL: &str = "/toys/call";
/// The same; its answer is a stream of events, of which the first comes at once.
pub(crate) const INVOKE: &str = "/toys/invoke";
/// Events without an end: the first, and no other.
pub(crate) const WATCH: &str = "/toys/watch";
/// Events without an end, each of 16 KiB.
pub(crate) const FLOOD: &str = "/toys/flood";
/// Panics.
pub(crate) const PANIC: &str = "/toys/panic";

fn routes() -> Vec<Route> {
    let public = Rule { access: Access::Public, ..Rule::USER };
    let many = Rule { messages: Messages::Many, ..Rule::TRANSFER };
    vec![
        Route::new(Method::GET, READY, public, get(async || "\"ready\"")),
        Route::new(Method::POST, COUNT, Rule::USER, post(async |body: Bytes| body.len().to_string())),
        Route::new(Method::PUT, UPLOAD, many, axum::routing::put(upload)),
        Route::new(Method::POST, "/toys/call/{tool}", Rule::USER, post(call)),
        Route::new(Method::POST, "/toys/invoke/{tool}", Rule::USER, post(invoke)),
        Route::new(Method::GET, WATCH, Rule::WATCH, get(watch)),
        Route::new(Method::GET, FLOOD, Rule::WATCH, get(flood)),
        Route::new(Method::GET, PANIC, public, get(panics)),
    ]
}

async fn upload(request: Request) -> String {
    let mut body = request.into_body().into_data_stream();
    let mut count = 0;
    while let Some(Ok(data)) = body.next().await {
        count += data.len();
    }
    count.to_string()
}

async fn call(
    State(http): State<Http>,
    Path(tool): Path<String>,
    request: Request,
) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    let arguments = arguments(body).await;
    let call = incoming::call(&parts.extensions, Target::Tool(tool), Ok(arguments));
    incoming::hand_over(&parts.extensions);
    let ended = http.face.tools.finish(call).await.map_err(Problem::from)?;
    Ok(Response::new(Body::from(format!("{ended:?}"))))
}

async fn invoke(
    State(http): State<Http>,
    Path(tool): Path<String>,
    request: Request,
) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    let arguments = arguments(body).await;
    let call = incoming::call(&parts.extensions, Target::Tool(tool), Ok(arguments));
    incoming::hand_over(&parts.extensions);
    let started = http.face.tools.start(call).await.map_err(Problem::from)?;
    let steps = stream::unfold(started, async |mut started| {
        let step = started.next().await?;
        let data = format!("{step:?}").replace('\n', " ");
        Some((Event { id: None, event: "step", data }, started))
    });
    Ok(sse::response(steps))
}

async fn arguments(body: Body) -> Map<String, Value> {
    let bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

async fn watch() -> Response {
    sse::response(stream::iter([first()]).chain(stream::pending()))
}

async fn flood() -> Response {
    let event = || Event { id: None, event: "flood", data: "x".repeat(16 * 1024) };
    sse::response(stream::repeat_with(event))
}

fn first() -> Event {
    Event { id: Some("1".to_owned()), event: "first", data: json!({"is": "here"}).to_string() }
}

async fn panics() -> &'static str {
    panic!("as asked")
}

/// A server with the bundled domains and these routes.
pub(crate) struct Toys {
    pub(crate) server: Server,
    pub(crate) http: SocketAddr,
    _state: TempDir,
}

impl Toys {
    pub(crate) fn start() -> Self {
        Self::with(config_with_http())
    }

    pub(crate) fn with(mut config: Config) -> Self {
        let state = tempfile::tempdir().unwrap();
        config.state.dir.get_or_insert_with(|| state.path().to_owned());
        let toys = Domain { routes, ..Domain::new("toys") };
        let all: Vec<_> = domains::bundled().into_iter().chain([toys]).collect();
        let server = Server::of(App::build(&config, &all).expect("starts"), config);
        let http = server.http.expect("configured");
        Self { server, http, _state: state }
    }
}
