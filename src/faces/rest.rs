//! The REST face: tools as routes, and the other services by one table.
//!
//! It spells requests and answers and decides nothing: what may be called, and what becomes of it, is said below. Not
//! here: the listener with its layers (`http`), and the routes that specifications show (`specified`).

mod answer;
mod asked;
mod events;
mod listing;
mod message;
mod query;
mod read;
mod tool;

use axum::routing::{get, post};
use http::Method;

use super::{http::route::Route, transport::rules::Rule};

/// Every route of this face.
pub fn routes() -> Vec<Route> {
    let call = |path, handler| Route { method: Method::POST, path, rule: Rule::USER, handler };
    let read = |path, handler| Route { method: Method::GET, path, rule: Rule::USER, handler };
    vec![
        call("/v1/tools/{tool}", post(tool::by_name)),
        call("/v1/intents/{intent}", post(tool::by_intent)),
        read("/v1/tools", get(listing::list)),
        read("/v1/tools/{tool}", get(listing::one)),
        read("/v1/exports/{format}", get(listing::export)),
    ]
}
