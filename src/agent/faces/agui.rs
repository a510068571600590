//! AG-UI over HTTP: a conversation as the runs and events of that protocol, under `/copilotkit`.
//!
//! `threadId` is a session. Its memory takes precedence; of a caller's messages only those that are older are added
//! before it. Not here: `CopilotKit`'s own runtime protocol, and tools that a caller would carry out.

mod action;
mod active_run;
pub mod event;
mod input;
mod outcome;
mod resume;
pub mod run;
mod stream;
mod transcript;

use axum::routing::post;
use http::Method;

use toolwire_server::faces::http::route::{Handler, Route, RouteFace};
use toolwire_transport::rules::Rule;

pub fn routes() -> Vec<Route> {
    let face = RouteFace { name: "agui", is_on: |http| http.agui };
    let route = |path, handler: Handler| Route {
        face,
        ..Route::new(Method::POST, path, Rule::CONVERSATION, handler)
    };
    vec![route("/copilotkit/action", post(action::action)), route("/copilotkit/stream", post(stream::stream))]
}
