//! The embedded twin of every HTTP source. It is a service within the process that answers from `data/research/` in
//! each source's own wire format, so that connectors run the same code with and without the network.
//!
//! It behaves like the real thing where a connector can notice: handshakes, cookies, refusals, pages, cut lists. It
//! keeps no state, sets no limits, and is never slow or broken. What it answers is invented: see
//! `data/research/README.md`.

mod data;
mod news;
mod nse;
mod query;
mod reddit;
mod reply;
mod request_parts;
mod screener;
#[cfg(test)]
mod tests;
mod valuepickr;
mod yahoo;

use std::{io, sync::Arc};

use axum::Router;
use chrono::NaiveDate;
use http::StatusCode;
use url::Url;

use self::data::Data;
use crate::data::files;
use toolwire_base::files::Tree;
use toolwire_sources::upstream::http::Sender;

/// The origin of every embedded source. No name of this domain can lead anywhere (RFC 6761).
const ORIGIN: &str = "http://embedded.invalid/";

/// The same connections, on which the embedded sources answer from `research/` of the given tree.
///
/// If a tree has no such directory, as one that holds only an operator's manifests, the files of the binary are used.
/// Files of two trees are never mixed, since their prices and posts would contradict each other.
pub fn attach(sender: Sender, tree: Tree) -> io::Result<Sender> {
    let origin = Url::parse(ORIGIN).expect("a constant address");
    Ok(sender.with_in_process(&origin, service(tree)?))
}

/// The base address of a source: `http://embedded.invalid/<prefix>/`. Prefixes: `yahoo`, `yahoo-cookie`, `valuepickr`,
/// `reddit`, `reddit-token`, `moneycontrol`, `economictimes`, `googlenews`, `screener`, `nse`.
pub fn base(prefix: &str) -> Url {
    let text = format!("{ORIGIN}{prefix}/");
    Url::parse(&text).expect("an address and a word make a URL")
}

/// The first day of the deals that the embedded exchange has. `None` if it has none.
pub fn first_deal(tree: Tree) -> io::Result<Option<NaiveDate>> {
    Ok(nse::first_deal(&load(tree)?))
}

fn service(tree: Tree) -> io::Result<Router> {
    Ok(routes(Arc::new(load(tree)?)))
}

fn load(tree: Tree) -> io::Result<Data> {
    Data::load(if tree.has_directory(data::ROOT) { tree } else { Tree::Embedded(files()) })
}

fn routes(data: Arc<Data>) -> Router {
    Router::new()
        .merge(yahoo::routes())
        .merge(valuepickr::routes())
        .merge(reddit::routes())
        .merge(news::routes())
        .merge(screener::routes())
        .merge(nse::routes())
        .fallback(|| async { reply::page(StatusCode::NOT_FOUND, "<html><title>Not Found</title></html>") })
        .with_state(data)
}
