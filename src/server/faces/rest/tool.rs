//! Calls of tools: `POST /v1/tools/{name}:call` and `:invoke`, and the same for intents.
//!
//! The router knows no suffix behind a parameter: what is done stands behind the last colon, which no name has.

use axum::{
    body::{Body, to_bytes},
    extract::{Path, Request, State, rejection::PathRejection},
    response::Response,
};
use http::StatusCode;

use super::{answer::CallName, events, request};
use crate::{
    faces::http::{conditional::Conditions, problem::Problem, route::Http},
    service::request::refuse,
};
use toolwire_contract::Refusal;
use toolwire_engine::pipeline::Target;

type ToolPath = Result<Path<String>, PathRejection>;

/// How a call is answered.
enum CallMode {
    Call,
    Invoke,
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
    let (name, manner) = parse_segment(&tool_segment(path)?)?;
    let (parts, body) = request.into_parts();
    let body = read(body).await?;
    let (mut call, form) = request::call(&parts, target(name), &body)?;
    let (which, tools) = (CallName::of(&call), &http.face.tools);
    if let Some(conditions) = parts.extensions.get::<Conditions>() {
        request::bind(&mut call, conditions, tools)?;
    }
    let user = call.context.user.id.clone();
    let refused = |refusal| Ok(which.refuse(request::in_our_words(refusal)));
    match manner {
        CallMode::Call => match tools.finish(call).await {
            Ok(terminal) => Ok(which.end(tools, terminal, form).await),
            Err(refusal) => refused(refusal),
        },
        // In a box: a call that is answered by its result need not be as large.
        CallMode::Invoke => match Box::pin(tools.start(call)).await {
            Ok(started) => Ok(which.note(events::answer(started, tools, form, &user))),
            Err(refusal) => refused(refusal),
        },
    }
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
        _ => {
            let what =
                "a call is made at /v1/tools/{name}:call, or :invoke for its events; /openapi.json says more";
            Err(Problem::new("UNKNOWN_ROUTE", StatusCode::NOT_FOUND, what))
        }
    }
}

/// The body, which the layers above bound.
pub(super) async fn read(body: Body) -> Result<bytes::Bytes, Refusal> {
    let broken_off = |_| refuse("body", "json", "broke off");
    to_bytes(body, usize::MAX).await.map_err(broken_off)
}
