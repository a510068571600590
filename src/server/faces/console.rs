//! The face of the console: what its page is served by. Its data are those of the REST face.
//!
//! Not here: the files of the page.

use axum::routing::get;
use http::Method;

use super::http::{console_document, route::Route};
use toolwire_transport::rules::Rule;

pub fn routes() -> Vec<Route> {
    vec![Route::new(Method::GET, "/v1/console", Rule::PUBLIC, get(console_document::answer))]
}
