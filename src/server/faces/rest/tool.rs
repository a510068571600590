//! Calls of tools: `POST /v1/tools/{name}:call` and `:invoke`, what a call would come to, `:explain`, and the same for
//! intents.
//!
//! The router matches no suffix behind a parameter: the verb follows the last colon, which no name contains.

use std::sync::Arc;

use axum::{
    body::{Body, to_bytes},
    extract::{Path, Request, State, rejection::PathRejection},
    response::Response,
};
use http::{HeaderValue, StatusCode, request::Parts};

use super::{
    answer::{CallResponder, of_message},
    events, message, request,
};
use crate::{
    faces::{
        grpc,
        http::{conditional::Conditions, problem::Problem, route::Http},
        incoming,
    },
    service::request::refuse,
};
use toolwire_contract::Refusal;
use toolwire_engine::pipeline::{Call, Target};
use toolwire_tool::context::RequestId;
use toolwire_transport::backlog;

type ToolPath = Result<Path<String>, PathRejection>;

/// How a call is answered.
enum CallMode {
    Call,
    Invoke,
    /// It is not made, only explained.
    Explain,
}

pub(super) async fn by_name(
    http: State<Http>,
    path: ToolPath,
    request: Request,
) -> Result<Response, Problem> {
    answer(http, path, Target::Tool, request).await
}

/// A tool by an intent that routes to it.
pub(super) async fn by_intent(
    http: State<Http>,
    path: ToolPath,
    request: Request,
) -> Result<Response, Problem> {
    answer(http, path, Target::Intent, request).await
}

async fn answer(
    State(http): State<Http>,
    path: ToolPath,
    target: fn(String) -> Target,
    request: Request,
) -> Result<Response, Problem> {
    let (name, mode) = parse_segment(&tool_segment(path)?)?;
    let (parts, body) = request.into_parts();
    let body = read_body(body).await?;
    let streams = match mode {
        CallMode::Explain => return Box::pin(explain(&http, &parts, target(name), &body)).await,
        CallMode::Invoke => true,
        CallMode::Call => false,
    };
    let (mut call, form) = request::call(&parts, target(name), &body)?;
    let (responder, tools) = (CallResponder::new(&call), &http.face.tools);
    if let Some(conditions) = parts.extensions.get::<Conditions>() {
        request::bind(&mut call, conditions, tools)?;
    }
    let (user, facts) = (call.context.user.id.clone(), Arc::clone(&call.facts));
    let refused = |refusal| Ok(responder.refuse(request::with_header_names(refusal)));
    let response = if streams {
        // Boxed: the future of a plain call need not have room for the stream of this one.
        match Box::pin(tools.start(with_backlog(call))).await {
            Ok(started) => Ok(responder.with_call_id(events::answer(started, tools, form, &user))),
            Err(refusal) => refused(refusal),
        }
    } else {
        match tools.finish(call).await {
            Ok(terminal) => Ok(responder.respond(tools, terminal, form).await),
            Err(refusal) => refused(refusal),
        }
    };
    response.map(|response| with_request_id(response, facts.resumed_request_id()))
}

/// Explains the call that a request would make.
async fn explain(http: &Http, parts: &Parts, target: Target, body: &[u8]) -> Result<Response, Problem> {
    let mut call = request::explained_call(parts, target, body)?;
    if let Some(conditions) = parts.extensions.get::<Conditions>() {
        request::bind(&mut call, conditions, &http.face.tools)?;
    }
    let explained = http.face.tools.explain(call).await.map_err(request::with_header_names)?;
    Ok(of_message(&message::of(&grpc::explain::render(explained))))
}

/// Counts the events of a call for the peer that reads them.
fn with_backlog(mut call: Box<Call>) -> Box<Call> {
    call.backlog = backlog();
    call
}

/// Adds the header with the `request_id` of a write that may be resumed.
fn with_request_id(mut response: Response, request_id: Option<RequestId>) -> Response {
    let value = request_id.and_then(|id| HeaderValue::try_from(id.to_string()).ok());
    if let Some(value) = value {
        response.headers_mut().insert(incoming::REQUEST_ID, value);
    }
    response
}

pub(super) fn tool_segment(path: ToolPath) -> Result<String, Problem> {
    match path {
        Ok(Path(name)) => Ok(name),
        Err(_) => Err(refuse("path", "format", "must be UTF-8 with percent-encoding").into()),
    }
}

fn parse_segment(segment: &str) -> Result<(String, CallMode), Problem> {
    match segment.rsplit_once(':') {
        Some((name, "call")) => Ok((name.to_owned(), CallMode::Call)),
        Some((name, "invoke")) => Ok((name.to_owned(), CallMode::Invoke)),
        Some((name, "explain")) => Ok((name.to_owned(), CallMode::Explain)),
        _ => {
            let what = "a call is made at /v1/tools/{name}:call, or :invoke for its events, and :explain says what it would \
                        come to; /openapi.json says more";
            Err(Problem::new("UNKNOWN_ROUTE", StatusCode::NOT_FOUND, what))
        }
    }
}

/// Reads a body, which the layers above bound.
pub(super) async fn read_body(body: Body) -> Result<bytes::Bytes, Refusal> {
    let broken_off = |_| refuse("body", "json", "broke off");
    to_bytes(body, usize::MAX).await.map_err(broken_off)
}
