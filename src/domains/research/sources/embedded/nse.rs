//! NSE: documents that require the cookie of a page visit, deals, and filings in the archives.

mod deals;
mod visit;

use std::sync::Arc;

use axum::{
    Router,
    extract::{Path, State},
    response::Response,
    routing::get,
};
use http::{StatusCode, header};
use serde_json::{Value, json};

pub(super) use self::deals::first_deal;
use self::visit::{BLOCK, COOKIE, refusal};
use super::{data::Data, reply, request_parts::RequestParts};

const PAGE: &str =
    "<!DOCTYPE html><html><head><title>NSE - National Stock Exchange of India Ltd</title></head></html>";

pub(super) fn routes() -> Router<Arc<Data>> {
    Router::new()
        .route("/nse/", get(page))
        .route("/nse/{*page}", get(page))
        .route("/nse/api/historicalOR/bulk-block-short-deals", get(deals::deals))
        .route("/nse/api/fiidiiTradeReact", get(flows))
        .route("/nse/api/corporate-share-holdings-master", get(filings))
        .route("/nse/api/results-comparision", get(results))
        .route("/nse/api/{*document}", get(|| async { reply::page(StatusCode::NOT_FOUND, BLOCK) }))
        .route("/nse/corporate/xbrl/{file}", get(xbrl))
}

/// Any page gives the cookie.
async fn page(asked: RequestParts) -> Response {
    if !asked.is_browser() {
        return reply::page(StatusCode::FORBIDDEN, BLOCK);
    }
    let cookie = format!("{}={}; Path=/; Secure; HttpOnly", COOKIE.0, COOKIE.1);
    let page = reply::with(reply::page(StatusCode::OK, PAGE), header::SET_COOKIE, &cookie);
    reply::with(page, header::SET_COOKIE, "nseappid=embedded; Path=/; Secure; HttpOnly")
}

async fn flows(State(data): State<Arc<Data>>, asked: RequestParts) -> Response {
    document(&data, &asked, "fiidiiTradeReact", || json!([]))
}

async fn filings(State(data): State<Arc<Data>>, asked: RequestParts) -> Response {
    let name = format!("shareholdings/{}", asked.get("symbol").unwrap_or_default());
    document(&data, &asked, &name, || json!([]))
}

async fn results(State(data): State<Arc<Data>>, asked: RequestParts) -> Response {
    let name = format!("results/{}", asked.get("symbol").unwrap_or_default());
    document(&data, &asked, &name, || json!({ "resCmpData": null }))
}

/// The archives ask for no cookie.
async fn xbrl(State(data): State<Arc<Data>>, Path(file): Path<String>) -> Response {
    match data.bytes(&format!("nse/xbrl/{file}")) {
        Some(document) => reply::with_type(StatusCode::OK, "application/xml", document),
        None => reply::page(StatusCode::NOT_FOUND, BLOCK),
    }
}

/// An unknown symbol has the document of one without data.
fn document(data: &Data, asked: &RequestParts, name: &str, nothing: impl FnOnce() -> Value) -> Response {
    refusal(asked).unwrap_or_else(|| {
        let document = data.json(&format!("nse/{name}.json")).unwrap_or_else(nothing);
        reply::json(StatusCode::OK, &document)
    })
}
