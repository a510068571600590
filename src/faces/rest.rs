//! The REST face: tools as routes, and the other services by one table.
//!
//! It spells requests and answers and decides nothing: what may be called, and what becomes of it, is said below. Not
//! here: the listener with its layers (`http`), and the routes that specifications show (`specified`).

mod answer;
mod asked;
mod definitions;
mod dispatch;
mod document;
mod errors;
mod event;
mod events;
mod fixed;
mod listing;
mod message;
mod openapi;
mod query;
mod read;
mod rpc;
mod tool;
mod tools;
mod transcode;
mod wire;

use axum::routing::{get, post};
use http::Method;

pub use self::answer::confirmation_required;
use self::fixed::{ROWS, Row};
use super::{
    http::route::Route,
    transport::rules::{Access, Pool, Rule},
};

/// What anyone may read: it says nothing of anybody.
const ANYONE: Rule = Rule { access: Access::Public, pool: Pool::Free, ..Rule::USER };

/// Whether a route checks the conditions of a write by itself: those of documents and of calls, whose representation is
/// the definition of their tool.
pub fn checks_conditions(method: &Method, path: &str) -> bool {
    let is_row = |row: &Row| row.method.http() == *method && row.split().0 == path;
    matches!(path, "/v1/tools/{tool}" | "/v1/intents/{intent}")
        || ROWS.iter().any(|row| is_row(row) && transcode::has_precondition(row))
}

/// Every route of this face.
pub fn routes() -> Vec<Route> {
    let call = |path, handler| Route { method: Method::POST, path, rule: Rule::USER, handler };
    let read = |path, handler| Route { method: Method::GET, path, rule: Rule::USER, handler };
    let mut routes = vec![
        call("/v1/tools/{tool}", post(tool::by_name)),
        call("/v1/intents/{intent}", post(tool::by_intent)),
        read("/v1/tools", get(listing::list)),
        read("/v1/tools/{tool}", get(listing::one)),
        read("/v1/exports/{format}", get(listing::export)),
        read("/v1/openapi.json", get(openapi::answer)),
        read("/openapi.json", get(openapi::answer)),
        Route { method: Method::GET, path: "/errors/{code}", rule: ANYONE, handler: get(errors::page) },
    ];
    routes.extend(dispatch::routes());
    routes
}
