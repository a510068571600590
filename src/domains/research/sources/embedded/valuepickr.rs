//! ValuePickr: a Discourse forum with its lists, its search, and its topics in portions of 20 posts.

mod documents;
mod search;

use std::sync::Arc;

use axum::{
    Router,
    extract::{Path, State},
    response::Response,
    routing::get,
};
use chrono::{DateTime, TimeDelta, Utc};
use http::StatusCode;
use serde_json::{Value, json};

use self::documents::{posts_of, read, topics};
use super::{data::Data, reply, request_parts::RequestParts};

/// Number of topics on a page of a list.
const TOPICS: usize = 30;
/// Number of posts that come with a topic.
const POSTS: usize = 20;

pub(super) fn routes() -> Router<Arc<Data>> {
    Router::new()
        .route("/valuepickr/latest.json", get(latest))
        .route("/valuepickr/top.json", get(top))
        .route("/valuepickr/search.json", get(search::search))
        .route("/valuepickr/t/{topic}", get(topic))
        .route("/valuepickr/t/{topic}/posts.json", get(posts))
}

async fn latest(State(data): State<Arc<Data>>, asked: RequestParts) -> Response {
    data.json("valuepickr/latest.json").map_or_else(not_found, |list| page(list, &asked))
}

async fn top(State(data): State<Arc<Data>>, asked: RequestParts) -> Response {
    let Some(mut list) = data.json("valuepickr/top.json") else { return not_found() };
    if let Some(days) = days(asked.get("period").unwrap_or("yearly")) {
        let since = data.now() - TimeDelta::days(days);
        topics(&mut list).retain(|topic| time(&topic["bumped_at"]).is_some_and(|time| time >= since));
    }
    page(list, &asked)
}

/// `None` is all time, as is an unknown period.
fn days(period: &str) -> Option<i64> {
    Some(match period {
        "daily" => 1,
        "weekly" => 7,
        "monthly" => 30,
        "quarterly" => 91,
        "yearly" => 365,
        _ => return None,
    })
}

fn page(mut list: Value, asked: &RequestParts) -> Response {
    let number: usize = asked.number("page").unwrap_or(0);
    let all = std::mem::take(topics(&mut list));
    let has_more = all.len() > number.saturating_add(1).saturating_mul(TOPICS);
    *topics(&mut list) = all.into_iter().skip(number.saturating_mul(TOPICS)).take(TOPICS).collect();
    if has_more {
        list["topic_list"]["more_topics_url"] = json!(format!("/latest?page={}", number + 1));
    }
    reply::json(StatusCode::OK, &list)
}

/// `20000.json`: the first posts, and the numbers of all.
async fn topic(State(data): State<Arc<Data>>, Path(topic): Path<String>) -> Response {
    let number = topic.strip_suffix(".json").unwrap_or(&topic);
    let Some(mut topic) = read(&data, number) else { return not_found() };
    posts_of(&mut topic).truncate(POSTS);
    reply::json(StatusCode::OK, &topic)
}

/// The posts with the requested numbers.
async fn posts(State(data): State<Arc<Data>>, Path(topic): Path<String>, asked: RequestParts) -> Response {
    let Some(mut found) = read(&data, &topic) else { return not_found() };
    let wanted: Vec<u64> = asked.all("post_ids[]").filter_map(|number| number.parse().ok()).collect();
    let mut posts = std::mem::take(posts_of(&mut found));
    posts.retain(|post| post["id"].as_u64().is_some_and(|number| wanted.contains(&number)));
    reply::json(StatusCode::OK, &json!({ "post_stream": { "posts": posts }, "id": found["id"] }))
}

fn time(value: &Value) -> Option<DateTime<Utc>> {
    Some(DateTime::parse_from_rfc3339(value.as_str()?).ok()?.to_utc())
}

fn not_found() -> Response {
    let error = "The requested URL or resource could not be found.";
    reply::json(StatusCode::NOT_FOUND, &json!({ "errors": [error], "error_type": "not_found" }))
}
