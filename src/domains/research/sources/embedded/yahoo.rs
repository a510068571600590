//! Yahoo Finance: charts, the timeseries, and quoteSummary behind the handshake of cookie and crumb.

mod chart;
mod timeseries;

use std::sync::Arc;

use axum::{
    Router,
    extract::{Path, State},
    response::Response,
    routing::get,
};
use http::{StatusCode, header};
use serde_json::{Value, json};

use super::{data::Data, reply, request_parts::RequestParts};

const COOKIE: (&str, &str) = ("A3", "d=embedded");
const CRUMB: &str = "em.bed/ded1";

pub(super) fn routes() -> Router<Arc<Data>> {
    Router::new()
        .route("/yahoo-cookie/", get(cookie))
        .route("/yahoo/v1/test/getcrumb", get(crumb))
        .route("/yahoo/v8/finance/chart/{symbol}", get(chart))
        .route("/yahoo/v10/finance/quoteSummary/{symbol}", get(summary))
        .route("/yahoo/ws/fundamentals-timeseries/v1/finance/timeseries/{symbol}", get(timeseries))
}

/// The host has no page, only a cookie.
async fn cookie(asked: RequestParts) -> Response {
    if !asked.is_browser() {
        return too_many();
    }
    let cookie = format!("{}={}; Max-Age=31557600; Path=/; Secure; HttpOnly", COOKIE.0, COOKIE.1);
    reply::with(reply::text(StatusCode::NOT_FOUND, ""), header::SET_COOKIE, &cookie)
}

async fn crumb(asked: RequestParts) -> Response {
    if !asked.is_browser() {
        return too_many();
    }
    if !has_cookie(&asked) {
        return unauthorized("Invalid Cookie");
    }
    reply::text(StatusCode::OK, CRUMB)
}

async fn chart(State(data): State<Arc<Data>>, Path(symbol): Path<String>, asked: RequestParts) -> Response {
    if !asked.is_browser() {
        return too_many();
    }
    let Some(document) = document(&data, "chart", &symbol) else {
        let description = "No data found, symbol may be delisted";
        return failed(StatusCode::NOT_FOUND, "chart", "Not Found", description);
    };
    match chart::parse(&asked, data.now()) {
        Ok(wanted) => reply::json(StatusCode::OK, &chart::cut(document, &wanted)),
        Err(description) => {
            failed(StatusCode::UNPROCESSABLE_ENTITY, "chart", "Unprocessable Entity", &description)
        }
    }
}

async fn summary(State(data): State<Arc<Data>>, Path(symbol): Path<String>, asked: RequestParts) -> Response {
    if !asked.is_browser() {
        return too_many();
    }
    if !has_cookie(&asked) || asked.get("crumb") != Some(CRUMB) {
        return unauthorized("Invalid Crumb");
    }
    let Some(mut document) = document(&data, "quoteSummary", &symbol) else {
        let description = format!("Quote not found for symbol: {symbol}");
        return failed(StatusCode::NOT_FOUND, "quoteSummary", "Not Found", &description);
    };
    let modules: Vec<_> = asked.get("modules").unwrap_or_default().split(',').map(str::trim).collect();
    if let Some(result) = document.pointer_mut("/quoteSummary/result/0").and_then(Value::as_object_mut) {
        result.retain(|module, _| modules.contains(&module.as_str()));
    }
    reply::json(StatusCode::OK, &document)
}

/// Never a 404: for an unknown symbol, it lists the requested types without values.
async fn timeseries(
    State(data): State<Arc<Data>>,
    Path(symbol): Path<String>,
    asked: RequestParts,
) -> Response {
    if !asked.is_browser() {
        return too_many();
    }
    let document = document(&data, "timeseries", &symbol);
    reply::json(StatusCode::OK, &timeseries::cut(document, &symbol, &asked))
}

fn document(data: &Data, kind: &str, symbol: &str) -> Option<Value> {
    data.json(&format!("yahoo/{kind}/{}.json", symbol.to_uppercase()))
}

fn has_cookie(asked: &RequestParts) -> bool {
    asked.cookie(COOKIE.0) == Some(COOKIE.1)
}

/// The answer to a client that does not look like a browser.
fn too_many() -> Response {
    reply::text(StatusCode::TOO_MANY_REQUESTS, "Edge: Too Many Requests")
}

fn unauthorized(description: &str) -> Response {
    failed(StatusCode::UNAUTHORIZED, "finance", "Unauthorized", description)
}

fn failed(status: StatusCode, envelope: &str, code: &str, description: &str) -> Response {
    let error = json!({ "code": code, "description": description });
    reply::json(status, &json!({ envelope: { "result": null, "error": error } }))
}
