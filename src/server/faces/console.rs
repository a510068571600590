//! The face of the console: its page, and what that must know before its user has signed in. Its data are those of the
//! REST face.

mod page;

use axum::{
    extract::State,
    response::{IntoResponse, Response},
    routing::get,
};
use http::{
    Method,
    header::{CACHE_CONTROL, CONTENT_TYPE},
};

use super::http::route::{Http, Route};
use toolwire_transport::rules::Rule;

pub fn routes() -> Vec<Route> {
    let document = Route::new(Method::GET, "/v1/console", Rule::PUBLIC, get(describe));
    let page = page::ROUTES.map(|path| Route {
        // Issuers send what they answer in the query of the address that the page has given them.
        reads_query: path == page::INDEX,
        ..Route::new(Method::GET, path, Rule::PUBLIC, get(page::answer))
    });
    [document].into_iter().chain(page).collect()
}

/// What the page must know before its user has signed in.
async fn describe(State(http): State<Http>) -> Response {
    let headers = [(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "no-store")];
    (headers, http.console.to_json().to_string()).into_response()
}
