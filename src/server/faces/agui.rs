//! AG-UI over HTTP: a conversation as the runs and events of that protocol, under `/copilotkit`.
//!
//! `threadId` is a session. Its memory takes precedence; of a caller's messages only those that are older are added
//! before it. Not here: `CopilotKit`'s own runtime protocol, and tools that a caller would carry out.

mod action;
pub mod event;
mod input;
mod interrupted;
mod outcome;
pub mod run;
mod running;
mod stream;
mod transcript;

use axum::routing::post;
use http::Method;

use super::{http::route::Route, transport::rules::Rule};

pub fn routes() -> Vec<Route> {
    vec![
        Route::new(Method::POST, "/copilotkit/action", Rule::CONVERSATION, post(action::action)),
        Route::new(Method::POST, "/copilotkit/stream", Rule::CONVERSATION, post(stream::stream)),
    ]
}
