//! A site within the process that answers as the sources do, but for one document.

use std::{
    sync::{Arc, LazyLock},
    time::Duration,
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::Request,
    response::Response,
};
use futures_util::future::{BoxFuture, ready};
use tokio::time::Instant;
use toolwire::{
    outgoing::Egress,
    sources::upstream::{
        http::{Client, Profile, Sender},
        limiter::{Budgets, Limiter, Permit, Refused, Usage},
    },
    state::MemoryCoolDowns,
    tool::context::UserId,
};
use url::Url;

/// No name of this domain can lead anywhere (RFC 6761).
const ORIGIN: &str = "http://fuzz.invalid/";

static SENDER: LazyLock<Sender> =
    LazyLock::new(|| Sender::new(&Egress::default()).expect("no certificates are needed"));

/// A site.
pub(super) struct Site {
    router: Router,
}

impl Site {
    /// One whose documents are good, but for those whose address has the given part.
    pub(super) fn of(address: &'static str, body: &[u8]) -> Self {
        let body = Bytes::copy_from_slice(body);
        let answer = move |request: Request| {
            let asked = request.uri().to_string();
            let response = if asked.contains(address) { replaced(&body) } else { good(&asked, address) };
            ready(response)
        };
        Self { router: Router::new().fallback(answer) }
    }

    /// The base address of a source.
    pub(super) fn url(source: &str) -> Url {
        format!("{ORIGIN}{source}/").parse().expect("an address")
    }

    /// A client of a source that never waits, and that asks nobody but this site.
    pub(super) fn client(&self, profile: Profile) -> Client {
        let profile = Profile { may_retry: false, ..profile };
        let sender =
            SENDER.clone().with_in_process(&ORIGIN.parse().expect("an address"), self.router.clone());
        Client::new(profile, sender, Arc::new(Unlimited), Arc::<MemoryCoolDowns>::default())
    }
}

/// The document that is tried. Its type says nothing: what a body is, connectors see for themselves.
fn replaced(body: &Bytes) -> Response {
    Response::new(Body::from(body.clone()))
}

/// What an address stands for when all is well. Only what the way to another document needs.
fn good(asked: &str, tried: &str) -> Response {
    let (cookie, body) = if asked.contains("/yahoo-cookie/") {
        ("A3=d=AQ", "")
    } else if asked.contains("getcrumb") {
        ("", "aB/c.D+1efg")
    } else if asked.contains("/reddit-token/") {
        ("", r#"{"access_token": "t", "token_type": "bearer", "expires_in": 3600}"#)
    } else if asked.contains("share-holdings-master") {
        (
            "",
            r#"[{"date": "31-DEC-2025", "pr_and_prgrp": "71.77", "xbrl": "https://x.example/corporate/SHP_1.xml"}]"#,
        )
    } else if asked.contains("bulk-block-short-deals") && tried == "csv=true" {
        return Response::new(Body::from(cut_deals()));
    } else if asked.ends_with("/t/7.json") {
        ("", r#"{"posts_count": 9, "post_stream": {"posts": [], "stream": [1, 2, 3]}}"#)
    } else if asked.ends_with("/nse/") {
        ("nsit=one", "<!DOCTYPE html><title>NSE</title>")
    } else {
        ("", "{}")
    };
    let response = Response::builder();
    let response = if cookie.is_empty() { response } else { response.header("set-cookie", cookie) };
    response.body(Body::from(body)).expect("a response")
}

/// As many deals as may have been cut, so that they are asked for as CSV.
fn cut_deals() -> String {
    let deal = r#"{"BD_DT_DATE": "15-JAN-2026", "BD_SYMBOL": "TCS", "BD_CLIENT_NAME": "A FUND", "BD_BUY_SELL": "BUY",
        "BD_QTY_TRD": "1,000", "BD_TP_WATP": 3000.5}"#;
    format!(r#"{{"data": [{}]}}"#, [deal; 70].join(","))
}

#[derive(Debug)]
struct Unlimited;

impl Limiter for Unlimited {
    fn acquire<'a>(
        &'a self,
        _source: &'a str,
        _user: &'a UserId,
        _deadline: Instant,
        _waiting: &'a (dyn Fn(Duration) + Send + Sync),
    ) -> BoxFuture<'a, Result<Permit, Refused>> {
        Box::pin(ready(Ok(Permit::Unlimited)))
    }

    fn give_back(&self, _source: &str, _user: &UserId, _permit: Permit) {}

    fn usage<'a>(&'a self, _source: &'a str, _user: &'a UserId) -> BoxFuture<'a, Usage> {
        Box::pin(ready(Usage::default()))
    }

    fn budgets(&self, _source: &str) -> Option<Budgets> {
        None
    }
}
