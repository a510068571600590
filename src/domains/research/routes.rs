//! Routes that name no tool: start a discovery, import a screen.

mod discovery;
mod import;

use axum::routing::post;
use http::Method;

use toolwire_server::faces::http::route::Route;
use toolwire_transport::rules::Rule;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::new(Method::POST, "/api/discovery", Rule::USER, post(discovery::start)),
        Route::new(Method::POST, "/api/integrations/screener/import", Rule::USER, post(import::import)),
    ]
}
