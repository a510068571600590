//! The routes that the specifications show and that name no tool: 000's chat and traces, 003's agent, 004's jobs.
//!
//! Over the same conversations and jobs as every other face. Not here: AG-UI (`agui`), routes that name tools (their
//! domains have them), and what this server's own REST face offers (`rest`).

pub mod answer;
mod asked;
pub mod body;
mod conversation;
mod jobs;
pub mod said;
pub mod spelled;
pub mod turn;

use axum::routing::{delete, get, post};
use http::Method;

use super::{
    http::route::Route,
    transport::rules::{Pool, Rule},
};

/// The routes.
pub fn routes() -> Vec<Route> {
    // It makes room, as every cancellation does.
    let free = Rule { pool: Pool::Free, ..Rule::USER };
    vec![
        route(Method::POST, "/api/chat", Rule::USER, post(asked::chat)),
        route(Method::GET, "/api/traces/{turn_id}", Rule::USER, get(asked::trace)),
        route(Method::POST, "/agent/chat", Rule::CONVERSATION, post(conversation::chat)),
        route(Method::POST, "/agent/stream", Rule::CONVERSATION, post(conversation::stream)),
        route(Method::GET, "/agent/stream/{turn_id}", Rule::USER, get(conversation::follow)),
        route(Method::GET, "/api/jobs/{id}", Rule::USER, get(jobs::get)),
        route(Method::DELETE, "/api/jobs/{id}", free, delete(jobs::cancel)),
        route(Method::GET, "/api/jobs/{id}/status", Rule::WATCH, get(jobs::status)),
    ]
}

fn route(method: Method, path: &'static str, rule: Rule, handler: super::http::route::Handler) -> Route {
    Route { method, path, rule, handler }
}
