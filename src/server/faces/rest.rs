//! The REST face: tools as routes, and the other services by one table.
//!
//! It decodes requests and encodes responses, and decides nothing: permissions and effects are the business of
//! `service`. Not here: the listener with its layers (`http`), and the routes of the specifications (`spec_routes`).

mod answer;
mod definitions;
mod dispatch;
mod document;
mod errors;
mod event;
mod events;
mod listing;
mod message;
mod openapi;
mod page_events;
mod read;
mod request;
mod rpc;
mod rpc_routes;
mod tool;
mod tools;
mod transcode;
mod wire;

use axum::routing::{get, post};
use http::Method;

pub use self::{answer::confirmation_required, dispatch::routes as rpc_routes};
use super::http::route::Route;
use toolwire_transport::rules::Rule;

/// Every route of this face.
pub fn routes() -> Vec<Route> {
    // The representation of a call's target is the definition of its tool.
    let call = |path, handler| Route {
        checks_preconditions: true,
        reads_query: true,
        ..Route::new(Method::POST, path, Rule::USER, handler)
    };
    let read =
        |path, handler| Route { reads_query: true, ..Route::new(Method::GET, path, Rule::USER, handler) };
    let mut routes = vec![
        call("/v1/tools/{tool}", post(tool::by_name)),
        call("/v1/intents/{intent}", post(tool::by_intent)),
        read("/v1/tools", get(listing::list)),
        read("/v1/tools/{tool}", get(listing::one)),
        read("/v1/exports/{format}", get(listing::export)),
        Route {
            reads_query: true,
            ..Route::new(Method::GET, "/v1/events", Rule::WATCH, page_events::handler())
        },
        Route::new(Method::GET, "/v1/openapi.json", Rule::USER, get(openapi::answer)),
        Route::new(Method::GET, "/openapi.json", Rule::USER, get(openapi::answer)),
        Route::new(Method::GET, "/errors/{code}", Rule::PUBLIC, get(errors::page)),
    ];
    routes.extend(rpc_routes(rpc_routes::ROWS));
    routes
}
