//! Reddit's API for applications: a token for credentials, and with it listings and a search in a subreddit.

use std::sync::Arc;

use axum::{
    Form, Router,
    extract::{Path, State},
    response::Response,
    routing::{get, post},
};
use chrono::TimeDelta;
use http::{StatusCode, header};
use serde_json::{Value, json};

use super::{data::Data, query::Query, reply, request_parts::RequestParts};

const TOKEN: &str = "embedded-token";
/// Number of posts without a limit, and the maximum.
const LIMITS: (usize, usize) = (25, 100);

pub(super) fn routes() -> Router<Arc<Data>> {
    Router::new()
        .route("/reddit-token/api/v1/access_token", post(token))
        .route("/reddit/r/{subreddit}/{sort}", get(listing))
}

/// A token for any credentials.
async fn token(asked: RequestParts, Form(form): Form<Vec<(String, String)>>) -> Response {
    let credentials = asked.header(header::AUTHORIZATION).strip_prefix("Basic ").unwrap_or_default();
    // `Og==` is a colon without anything beside it.
    if credentials.is_empty() || credentials == "Og==" {
        return unauthorized("Basic realm=\"reddit\"");
    }
    let grant = form.iter().find(|(name, _)| name == "grant_type").map(|(_, value)| value.as_str());
    if grant != Some("client_credentials") {
        return reply::json(StatusCode::OK, &json!({ "error": "unsupported_grant_type" }));
    }
    let token = json!({ "access_token": TOKEN, "token_type": "bearer", "expires_in": 86_400, "scope": "*" });
    reply::json(StatusCode::OK, &token)
}

async fn listing(
    State(data): State<Arc<Data>>,
    Path((subreddit, sort)): Path<(String, String)>,
    asked: RequestParts,
) -> Response {
    if asked.header(header::AUTHORIZATION).strip_prefix("Bearer ") != Some(TOKEN) {
        return unauthorized("Bearer realm=\"reddit\", error=\"invalid_token\"");
    }
    let is_search = sort == "search";
    // A search is over all posts, in the requested order.
    let order =
        if is_search { asked.get("sort").filter(|sort| *sort == "top").unwrap_or("new") } else { &sort };
    let Some(mut page) = data.json(&format!("reddit/{subreddit}/{order}.json")) else {
        return missing(&subreddit);
    };
    let Some(posts) = page.pointer_mut("/data/children").and_then(Value::as_array_mut) else {
        return missing(&subreddit);
    };
    if is_search {
        let query = Query::parse(asked.get("q").unwrap_or_default());
        posts.retain(|post| query.matches(&text_of(post)));
    }
    let since = since(&data, &asked, is_search, order);
    posts.retain(|post| post["data"]["created_utc"].as_f64().is_some_and(|created| created >= since));
    let after = cut(posts, &asked);
    let count = posts.len();
    if asked.get("raw_json") != Some("1") {
        posts.iter_mut().for_each(escape);
    }
    page["data"]["after"] = after.map_or(Value::Null, Value::from);
    page["data"]["dist"] = json!(count);
    limited(reply::json(StatusCode::OK, &page))
}

fn text_of(post: &Value) -> String {
    let text = |name: &str| post["data"][name].as_str().unwrap_or_default().to_owned();
    text("title") + "\n" + &text("selftext")
}

/// The oldest time that `t` allows, in epoch seconds: a day for the top posts, all time for a search, without one.
#[allow(clippy::cast_precision_loss, reason = "epoch seconds are far below 2^52")]
fn since(data: &Data, asked: &RequestParts, is_search: bool, order: &str) -> f64 {
    let span = match asked.get("t").unwrap_or(if is_search { "all" } else { "day" }) {
        _ if !is_search && order != "top" => return 0.0,
        "hour" => TimeDelta::hours(1),
        "day" => TimeDelta::days(1),
        "week" => TimeDelta::days(7),
        "month" => TimeDelta::days(30),
        "year" => TimeDelta::days(365),
        _ => return 0.0,
    };
    (data.now() - span).timestamp() as f64
}

/// Leaves one page; returns the name after which the next one begins. Stickies come on top of the limit.
fn cut(posts: &mut Vec<Value>, asked: &RequestParts) -> Option<String> {
    if let Some(after) = asked.get("after") {
        let at = posts.iter().position(|post| post["data"]["name"] == after).map_or(posts.len(), |at| at + 1);
        posts.drain(..at);
    }
    let stickies = posts.iter().take_while(|post| post["data"]["stickied"] == true).count();
    let limit = asked.number("limit").unwrap_or(LIMITS.0).clamp(1, LIMITS.1) + stickies;
    if posts.len() <= limit {
        return None;
    }
    posts.truncate(limit);
    posts.last()?["data"]["name"].as_str().map(str::to_owned)
}

/// Without `raw_json=1`, texts come with three characters as entities.
fn escape(post: &mut Value) {
    for name in ["title", "selftext"] {
        if let Some(text) = post["data"][name].as_str() {
            let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            post["data"][name] = json!(escaped);
        }
    }
}

/// A subreddit that is not there leads to the search for one.
fn missing(subreddit: &str) -> Response {
    let location = format!("https://oauth.reddit.com/subreddits/search?q={subreddit}");
    limited(reply::with(reply::json(StatusCode::FOUND, &json!({})), header::LOCATION, &location))
}

fn unauthorized(challenge: &str) -> Response {
    let body = json!({ "message": "Unauthorized", "error": 401 });
    reply::with(reply::json(StatusCode::UNAUTHORIZED, &body), header::WWW_AUTHENTICATE, challenge)
}

/// The state of a limit that is never reached.
fn limited(response: Response) -> Response {
    let headers =
        [("x-ratelimit-remaining", "994.0"), ("x-ratelimit-used", "6"), ("x-ratelimit-reset", "417")];
    headers.into_iter().fold(response, |response, (name, value)| {
        reply::with(response, header::HeaderName::from_static(name), value)
    })
}
