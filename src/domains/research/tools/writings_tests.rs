//! The tools on what people write, against sources that answer in their wire formats.

mod forum;
mod news_feeds;
mod subreddits;

use std::{
    future::ready,
    sync::Arc,
    time::{Duration, SystemTime},
};

use chrono::{DateTime, Utc};
use futures_util::future::BoxFuture;
use http::HeaderValue;
use serde_json::Value;
use wiremock::{
    Mock, MockServer, ResponseTemplate,
    matchers::{method, path},
};

use super::*;
use crate::{
    proto::v1::*,
    sources::{news, reddit, universe::Universe, valuepickr, watchlist::UserWatchlists},
    store::watchlist::{Changed, WatchOrigin, WatchedStock, Watchlists},
};
use toolwire_contract::{ErrorCode, ToolError};
use toolwire_db::StoreError;
use toolwire_sources::upstream::{
    now::Now,
    testing::{client, context},
};
use toolwire_tool::{
    Reply, Tool,
    context::{ToolContext, Unfinished, UserId},
};

pub(super) const NOW: &str = "2026-01-16T10:00:00Z";
const UNIVERSE: &str = r#"{"recorded_at": "2026-01-16T10:00:00Z", "stocks": [
    {"symbol": "RELIANCE", "name": "Reliance Industries", "sector": "Energy"},
    {"symbol": "TCS", "name": "Tata Consultancy Services", "sector": "Software"}]}"#;

/// What a watch-list holds, the same for every user.
#[derive(Debug)]
struct Watched(Vec<&'static str>);

impl Watchlists for Watched {
    fn list<'a>(&'a self, _user: &'a UserId) -> BoxFuture<'a, Result<Vec<WatchedStock>, StoreError>> {
        let stock = |(age, symbol): (u64, &&str)| WatchedStock {
            symbol: (*symbol).to_owned(),
            name: None,
            origin: WatchOrigin::User,
            note: None,
            added_at: SystemTime::UNIX_EPOCH + Duration::from_secs(1000 - age),
            updated_at: SystemTime::UNIX_EPOCH,
            cmp: None,
        };
        Box::pin(ready(Ok((0..).zip(&self.0).map(stock).collect())))
    }

    fn screened<'a>(&'a self, _user: &'a UserId) -> BoxFuture<'a, Result<Vec<WatchedStock>, StoreError>> {
        Box::pin(ready(Ok(Vec::new())))
    }

    fn add<'a>(
        &'a self,
        _user: &'a UserId,
        _symbol: &'a str,
        _name: Option<&'a str>,
        _note: Option<&'a str>,
        _now: SystemTime,
    ) -> BoxFuture<'a, Result<Changed, StoreError>> {
        Box::pin(ready(Err(StoreError::Nowhere("read only".to_owned()))))
    }

    fn remove<'a>(
        &'a self,
        _user: &'a UserId,
        _symbol: &'a str,
    ) -> BoxFuture<'a, Result<Changed, StoreError>> {
        Box::pin(ready(Err(StoreError::Nowhere("read only".to_owned()))))
    }
}

/// A call that sees sources at the given server, and a watch-list.
fn call(server: &MockServer, watched: &[&'static str]) -> ToolContext {
    let url = |prefix: &str| format!("{}/{prefix}/", server.uri()).parse().unwrap();
    let public = |url: &str| url.parse().unwrap();
    let now = Now::Recorded(NOW.parse::<DateTime<Utc>>().unwrap().into());
    let forum = valuepickr::Settings {
        base_url: url("valuepickr"),
        public_url: public("https://forum.valuepickr.com/"),
        now,
    };
    let reddit = reddit::Settings {
        api_url: url("reddit"),
        token_url: url("reddit-token"),
        public_url: public("https://www.reddit.com/"),
        user_agent: HeaderValue::from_static("linux:toolwire:0.1.0 (by /u/tester)"),
        credentials: Some(reddit::Credentials::embedded()),
        now,
    };
    let feeds = news::Settings {
        moneycontrol_url: url("moneycontrol"),
        economic_times_url: url("economictimes"),
        google_url: url("googlenews"),
        now,
    };
    let context = context();
    let services = context
        .services
        .clone()
        .with(Arc::new(Universe::parse(UNIVERSE).unwrap()))
        .with(Arc::new(UserWatchlists { lists: Arc::new(Watched(watched.to_vec())), prices: now }))
        .with(Arc::new(valuepickr::ValuePickr::new(client(valuepickr::PROFILE), forum)))
        .with(Arc::new(reddit::Reddit::new(client(reddit::PROFILE), reddit)))
        .with(Arc::new(news::News::new(client(news::PROFILE), feeds)));
    ToolContext { services, ..context }
}

async fn answer(server: &MockServer, at: &str, body: Value) {
    let answer = ResponseTemplate::new(200).set_body_json(body);
    Mock::given(method("GET")).and(path(at)).respond_with(answer).mount(server).await;
}

#[track_caller]
fn failed<T: std::fmt::Debug>(result: Result<Reply<T>, Unfinished>) -> ToolError {
    match result {
        Err(Unfinished::Failed(error)) => error,
        other => panic!("{other:?}"),
    }
}
