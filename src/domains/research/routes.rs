//! Specification 004's own routes: a discovery is started, and a screen is imported.

mod discovery;
mod import;

use axum::routing::post;
use http::Method;

use crate::faces::{http::route::Route, transport::rules::Rule};

/// The routes.
pub(super) fn routes() -> Vec<Route> {
    vec![
        Route {
            method: Method::POST,
            path: "/api/discovery",
            rule: Rule::USER,
            handler: post(discovery::start),
        },
        Route {
            method: Method::POST,
            path: "/api/integrations/screener/import",
            rule: Rule::USER,
            handler: post(import::import),
        },
    ]
}
