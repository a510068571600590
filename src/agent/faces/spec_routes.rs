//! The routes of docs/ORIGINS.md that name no tool: the chat and its traces, the agent, jobs.
//!
//! Over the same conversations and jobs as every other face. Not here: AG-UI (`agui`), routes that name tools (their
//! domains have them), and what this server's own REST face offers (`rest`).

mod chat;
pub mod chat_input;
mod conversation;
mod jobs;
pub mod json;
pub mod turn;

use axum::routing::{delete, get, post};
use http::Method;

use toolwire_server::faces::http::route::Route;
use toolwire_transport::rules::{Pool, Rule};

pub fn routes() -> Vec<Route> {
    // It makes room, as every cancellation does.
    let free = Rule { pool: Pool::Free, ..Rule::USER };
    vec![
        Route::new(Method::POST, "/api/chat", Rule::USER, post(chat::chat)),
        Route::new(Method::GET, "/api/traces/{turn_id}", Rule::USER, get(chat::trace)),
        Route::new(Method::POST, "/agent/chat", Rule::CONVERSATION, post(conversation::chat)),
        Route::new(Method::POST, "/agent/stream", Rule::CONVERSATION, post(conversation::stream)),
        Route::new(Method::GET, "/agent/stream/{turn_id}", Rule::USER, get(conversation::follow)),
        Route::new(Method::GET, "/api/jobs/{id}", Rule::USER, get(jobs::get)),
        Route::new(Method::DELETE, "/api/jobs/{id}", free, delete(jobs::cancel)),
        Route::new(Method::GET, "/api/jobs/{id}/status", Rule::WATCH, get(jobs::status)),
    ]
}
