//! News: the feeds of MoneyControl and the Economic Times as they are, and Google News by what is searched for.

use std::sync::Arc;

use axum::{
    Router,
    extract::{Path, State},
    response::Response,
    routing::get,
};
use chrono::{DateTime, TimeDelta, Utc};
use http::StatusCode;

use super::{data::Data, query::Query, reply, request_parts::RequestParts};
use crate::sources::universe::Stock;

pub(super) fn routes() -> Router<Arc<Data>> {
    Router::new()
        .route("/moneycontrol/rss/{feed}", get(moneycontrol))
        .route("/economictimes/{*path}", get(economictimes))
        .route("/googlenews/rss/search", get(google))
}

/// A feed in ISO-8859-1, which its declaration says and its header does not.
async fn moneycontrol(State(data): State<Arc<Data>>, Path(feed): Path<String>) -> Response {
    feed_or_page(&data, &format!("news/moneycontrol/{feed}"), "text/xml")
}

async fn economictimes(State(data): State<Arc<Data>>, Path(path): Path<String>) -> Response {
    feed_or_page(&data, &format!("news/economictimes/{path}"), "text/xml;charset=UTF-8")
}

fn feed_or_page(data: &Data, path: &str, media_type: &'static str) -> Response {
    match data.bytes(path) {
        Some(feed) => reply::with_type(StatusCode::OK, media_type, feed),
        None => {
            reply::page(StatusCode::NOT_FOUND, "<!DOCTYPE html><html><title>Page not found</title></html>")
        }
    }
}

/// The news of the stock that is searched for. A search for anything else finds nothing, which is an empty feed.
async fn google(State(data): State<Arc<Data>>, asked: RequestParts) -> Response {
    let text = asked.get("q").unwrap_or_default();
    let feed =
        stock(&data, text).and_then(|stock| data.text(&format!("news/googlenews/{}.xml", stock.symbol)));
    let feed = feed.unwrap_or_else(|| {
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><rss version=\"2.0\"><channel><title>Google News</title>\
         </channel></rss>"
            .to_owned()
    });
    let feed = since(&data, &Query::parse(text)).map_or(feed.clone(), |since| without_older(&feed, since));
    reply::with_type(StatusCode::OK, "application/xml; charset=utf-8", feed)
}

/// The stock with the longest name or symbol in the query.
fn stock<'a>(data: &'a Data, text: &str) -> Option<&'a Stock> {
    let named = |stock: &&Stock| {
        let names = [&stock.name, &stock.symbol].into_iter();
        let found = names.filter(|name| Query::parse(&format!("\"{name}\"")).matches(text));
        found.map(String::len).max()
    };
    let stocks = data.universe.stocks().filter_map(|stock| Some((named(&stock)?, stock)));
    stocks.max_by_key(|(length, _)| *length).map(|(_, stock)| stock)
}

/// The oldest instant that `when:7d` or `when:1h` includes.
fn since(data: &Data, query: &Query) -> Option<DateTime<Utc>> {
    let when = query.operator("when")?;
    let (count, unit) = when.split_at(when.find(|c: char| !c.is_ascii_digit())?);
    let count = count.parse().ok()?;
    let span = match unit {
        "h" => TimeDelta::try_hours(count)?,
        "d" => TimeDelta::try_days(count)?,
        "y" => TimeDelta::try_days(count.checked_mul(365)?)?,
        _ => return None,
    };
    data.now().checked_sub_signed(span)
}

/// Items stand on a line each.
fn without_older(feed: &str, since: DateTime<Utc>) -> String {
    let is_kept = |line: &&str| match line.split_once("<pubDate>").and_then(|(_, rest)| rest.split_once('<'))
    {
        Some((date, _)) => DateTime::parse_from_rfc2822(date).is_ok_and(|date| date >= since),
        None => true,
    };
    feed.lines().filter(is_kept).collect::<Vec<_>>().join("\n")
}
