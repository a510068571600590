//! The forum's search: one post of each topic in which the words stand, those with the words in the title first.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use http::StatusCode;
use serde_json::{Value, json};

use super::documents::{posts_of, read, topics};
use crate::sources::embedded::{data::Data, query::Query, reply, request_parts::RequestParts};

/// Maximum number of topics found.
const MAX_TOPICS: usize = 50;
/// Maximum number of characters of a post that are shown.
const BLURB: usize = 200;

/// A topic in which something was found.
struct Hit {
    is_in_title: bool,
    topic: Value,
    post: Value,
}

pub(super) async fn search(State(data): State<Arc<Data>>, asked: RequestParts) -> Response {
    let Some(text) = asked.get("q") else {
        let error = json!({ "errors": ["q is missing"], "error_type": "invalid_parameters" });
        return reply::json(StatusCode::BAD_REQUEST, &error);
    };
    let query = Query::parse(text);
    let mut hits = hits(&data, &query);
    // Stable: topics are in order of their activity.
    if query.operator("order") == Some("latest") {
        hits.sort_by(|a, b| b.post["created_at"].as_str().cmp(&a.post["created_at"].as_str()));
    } else {
        hits.sort_by_key(|hit| !hit.is_in_title);
    }
    hits.truncate(MAX_TOPICS);
    reply::json(StatusCode::OK, &page(&hits, text))
}

fn hits(data: &Data, query: &Query) -> Vec<Hit> {
    let mut list = data.json("valuepickr/latest.json").unwrap_or_default();
    let listed = std::mem::take(topics(&mut list));
    listed.into_iter().filter_map(|topic| hit(data, query, topic)).collect()
}

fn hit(data: &Data, query: &Query, topic: Value) -> Option<Hit> {
    let title = topic["title"].as_str().unwrap_or_default();
    let is_in_title = query.matches(title);
    let mut whole = read(data, &topic["id"].to_string())?;
    let posts = std::mem::take(posts_of(&mut whole));
    // Words may stand partly in the title and partly in the post.
    let found = posts.iter().position(|post| query.matches(&format!("{title}\n{}", plain(post))));
    let post = posts.into_iter().nth(found?)?;
    Some(Hit { is_in_title, topic, post })
}

fn page(hits: &[Hit], text: &str) -> Value {
    let posts: Vec<_> = hits.iter().map(|hit| render_post(&hit.post)).collect();
    let topics: Vec<_> = hits.iter().map(|hit| &hit.topic).collect();
    let post_ids: Vec<_> = hits.iter().map(|hit| &hit.post["id"]).collect();
    json!({
        "posts": posts,
        "topics": topics,
        "users": [],
        "categories": [],
        "tags": [],
        "groups": [],
        "grouped_search_result": {
            "more_posts": null, "more_users": null, "more_categories": null, "term": text,
            "search_log_id": null, "more_full_page_results": null, "can_create_topic": false, "error": null,
            "post_ids": post_ids, "user_ids": [], "category_ids": [], "tag_ids": [], "group_ids": [],
        },
    })
}

fn render_post(post: &Value) -> Value {
    let likes = post.pointer("/actions_summary/0/count").and_then(Value::as_u64).unwrap_or(0);
    let blurb: String = plain(post).chars().take(BLURB).collect();
    json!({
        "id": post["id"], "name": post["name"], "username": post["username"],
        "avatar_template": post["avatar_template"], "created_at": post["created_at"], "like_count": likes,
        "blurb": blurb, "post_number": post["post_number"], "topic_id": post["topic_id"],
    })
}

/// The words of a post, without its tags.
fn plain(post: &Value) -> String {
    let cooked = post["cooked"].as_str().unwrap_or_default();
    let without_tags: String =
        cooked.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text)).collect();
    let text = without_tags.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
    text.replace("&#x27;", "'").replace("&nbsp;", " ").replace("&amp;", "&")
}
