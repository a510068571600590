//! The tools on what people write, against sources that answer in their wire formats.

mod forum;
mod news_feeds;
mod subreddits;

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use chrono::{DateTime, Utc};
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
    store::tables::{Tables, migrations},
};
use toolwire_contract::{ErrorCode, ToolError};
use toolwire_sources::upstream::{
    now::Now,
    testing::{client, context},
};
use toolwire_state::{Partition, Store};
use toolwire_tool::{
    Reply, Tool,
    context::{ToolContext, Unfinished},
};

pub(super) const NOW: &str = "2026-01-16T10:00:00Z";
const UNIVERSE: &str = r#"{"recorded_at": "2026-01-16T10:00:00Z", "stocks": [
    {"symbol": "RELIANCE", "name": "Reliance Industries", "sector": "Energy"},
    {"symbol": "TCS", "name": "Tata Consultancy Services", "sector": "Software"}]}"#;

/// A call that sees sources at the given server, and an empty watch-list.
fn call(server: &MockServer) -> ToolContext {
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
    let state = Store::in_memory().with_tables([migrations()]).unwrap();
    let lists = Arc::new(Tables::new(Arc::new(state), Partition::Live));
    let context = context();
    let services = context
        .services
        .clone()
        .with(Arc::new(Universe::parse(UNIVERSE).unwrap()))
        .with(Arc::new(UserWatchlists { lists, prices: now }))
        .with(Arc::new(valuepickr::ValuePickr::new(client(valuepickr::PROFILE), forum)))
        .with(Arc::new(reddit::Reddit::new(client(reddit::PROFILE), reddit)))
        .with(Arc::new(news::News::new(client(news::PROFILE), feeds)));
    ToolContext { services, ..context }
}

/// The same with these stocks in the watch-list, the newest first.
async fn call_watching(server: &MockServer, watched: &[&str]) -> ToolContext {
    let context = call(server);
    let watchlists = context.services.get::<UserWatchlists>();
    for (age, symbol) in (0..).zip(watched) {
        let added_at = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000 - age);
        watchlists.lists.add(&context.user.id, symbol, None, None, added_at).await.unwrap();
    }
    context
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
