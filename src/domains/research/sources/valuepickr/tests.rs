//! The forum's answers as Discourse writes them.

use serde_json::{Value, json};
use wiremock::{
    Mock, MockServer, ResponseTemplate,
    matchers::{header, method, path, query_param},
};

use super::*;
use toolwire_sources::upstream::{
    http::FailureKind::{self, *},
    testing::{client, context},
    text::{Identifier, Line},
};

fn forum(server: &MockServer) -> ValuePickr {
    let settings = Settings {
        base_url: format!("{}/valuepickr/", server.uri()).parse().unwrap(),
        public_url: "https://forum.valuepickr.com/".parse().unwrap(),
        now: Now::Wall,
    };
    ValuePickr::new(client(PROFILE), settings)
}

async fn answer(server: &MockServer, at: &str, body: Value) {
    let answer = ResponseTemplate::new(200).set_body_json(body);
    Mock::given(method("GET")).and(path(at)).respond_with(answer).expect(1).mount(server).await;
}

fn listed(id: u64, title: &str, last_posted_at: &Value, bumped_at: &str, pinned: bool) -> Value {
    json!({"id": id, "title": title, "slug": format!("topic-{id}"), "posts_count": 10 + id, "reply_count": 3,
        "created_at": "2024-01-01T00:00:00.000Z", "last_posted_at": last_posted_at, "bumped_at": bumped_at,
        "pinned": pinned, "tags": []})
}

fn topic() -> Topic {
    Topic {
        id: 7,
        title: Line::of("Reliance Industries"),
        slug: Identifier::of("reliance-industries"),
        posts_count: 3,
        last_activity: DateTime::UNIX_EPOCH,
    }
}

fn post(id: u64, number: u32, cooked: &str) -> Value {
    json!({"id": id, "post_number": number, "username": "a", "cooked": cooked, "post_type": 1, "hidden": false,
        "deleted_at": null})
}

fn page(posts: &[Value], stream: &[u64]) -> Value {
    json!({"id": 7, "title": "Reliance Industries", "posts_count": stream.len(), "slug": "reliance",
        "last_posted_at": "2026-01-15T09:00:00.123Z", "post_stream": {"posts": posts, "stream": stream}})
}

#[tokio::test]
async fn a_pinned_topic_stands_where_its_activity_puts_it() {
    let server = MockServer::start().await;
    let topics = [
        listed(1, "Rules\u{202e}", &json!("2020-05-01T00:00:00.000Z"), "2020-05-01T00:00:00.000Z", true),
        listed(2, "TCS", &Value::Null, "2026-01-14T00:00:00.000Z", false),
        listed(
            3,
            "ITC &amp; <b>others</b>",
            &json!("2026-01-15T00:00:00.000Z"),
            "2026-01-01T00:00:00.000Z",
            false,
        ),
    ];
    answer(&server, "/valuepickr/latest.json", json!({"topic_list": {"topics": topics}})).await;
    let topics = forum(&server).latest(&context()).await.unwrap();
    assert_eq!(topics.iter().map(|topic| topic.id).collect::<Vec<_>>(), [3, 2, 1]);
    assert_eq!(topics[0].title, "ITC &amp; ‹b>others‹/b>", "a title is plain text, not HTML");
    assert_eq!(topics[1].last_activity.to_rfc3339(), "2026-01-14T00:00:00+00:00");
    assert_eq!((topics[2].title.as_str(), topics[2].posts_count), ("Rules", 11));
}

#[tokio::test]
async fn the_top_of_the_month_keeps_the_forums_order() {
    let server = MockServer::start().await;
    let old = listed(1, "First", &json!("2025-12-20T00:00:00.000Z"), "2025-12-20T00:00:00.000Z", false);
    let new = listed(2, "Second", &json!("2026-01-15T00:00:00.000Z"), "2026-01-15T00:00:00.000Z", false);
    Mock::given(path("/valuepickr/top.json"))
        .and(query_param("period", "monthly"))
        .and(header("accept", "application/json"))
        .respond_with(ResponseTemplate::new(200).set_body_json(json!({"topic_list": {"topics": [old, new]}})))
        .mount(&server)
        .await;
    let topics = forum(&server).top(&context()).await.unwrap();
    assert_eq!(topics.iter().map(|topic| topic.id).collect::<Vec<_>>(), [1, 2]);
}

#[tokio::test]
async fn a_search_without_hits_is_no_failure() {
    let server = MockServer::start().await;
    Mock::given(path("/valuepickr/search.json"))
        .and(query_param("q", "M&M order:latest"))
        .respond_with(
            ResponseTemplate::new(200)
                .set_body_json(json!({"posts": [], "grouped_search_result": {"term": "M&M"}})),
        )
        .mount(&server)
        .await;
    assert_eq!(forum(&server).search("M&M", Order::Latest, &context()).await, Ok(Vec::new()));
}

#[tokio::test]
async fn the_newest_posts_of_a_long_topic_take_a_second_request() {
    let server = MockServer::start().await;
    let opening =
        post(100, 1, "<p>Why &amp; how</p><aside class=\"quote\"><blockquote>other</blockquote></aside>");
    let first = page(&[opening, post(101, 2, "<p>old</p>")], &[100, 101, 102, 103, 104, 105, 106]);
    answer(&server, "/valuepickr/t/7.json", first).await;
    let mut closed = post(104, 5, "<p>closed</p>");
    closed["post_type"] = json!(3);
    let mut hidden = post(105, 6, "<p>spam</p>");
    hidden["hidden"] = json!(true);
    let newest =
        [post(106, 7, "<p>last</p>"), hidden, closed, post(103, 4, "<p>b</p>"), post(102, 3, "<p>a</p>")];
    answer(&server, "/valuepickr/t/7/posts.json", json!({"post_stream": {"posts": newest}, "id": 7})).await;
    let discussion = forum(&server).discussion(&topic(), &context()).await.unwrap();
    assert_eq!(discussion.thesis, "Why & how");
    assert_eq!(discussion.recent, ["a", "b", "last"]);
    assert_eq!(discussion.posts_count, 7);
    assert_eq!(discussion.last_activity.to_rfc3339(), "2026-01-15T09:00:00.123+00:00");
    assert_eq!(discussion.url.as_str(), "https://forum.valuepickr.com/t/reliance-industries/7", "for people");
    let asked = server.received_requests().await.unwrap();
    let ids = asked[1].url.query_pairs().map(|(_, id)| id.into_owned()).collect::<Vec<_>>();
    assert_eq!(ids, ["102", "103", "104", "105", "106"]);
}

#[tokio::test]
async fn a_short_topic_takes_one_request_and_may_have_no_newer_posts() {
    let server = MockServer::start().await;
    answer(&server, "/valuepickr/t/7.json", page(&[post(100, 1, &"x".repeat(5000))], &[100])).await;
    let discussion = forum(&server).discussion(&topic(), &context()).await.unwrap();
    assert_eq!(discussion.recent, [""; 0]);
    assert_eq!(discussion.thesis.chars().count(), 1500);
    assert_eq!(server.received_requests().await.unwrap().len(), 1);
}

#[tokio::test]
async fn every_kind_of_failure_is_told_apart() {
    let html = |status| ResponseTemplate::new(status).set_body_raw("<!DOCTYPE html><html>", "text/html");
    let json = |status, body: Value| ResponseTemplate::new(status).set_body_json(body);
    let of_type = |kind: &str| json!({"errors": ["Refused."], "error_type": kind});
    let slow_down = "Slow down, you're making too many requests.\nPlease retry again in 7 seconds.";
    let limited = json!({"errors": ["You’ve done that too many times."], "error_type": "rate_limit",
        "extras": {"wait_seconds": 11, "time_left": "11 seconds"}});
    let answers: Vec<(&str, ResponseTemplate, FailureKind, Option<u64>)> = vec![
        (
            "429 in plain text",
            ResponseTemplate::new(429)
                .insert_header("Retry-After", "7")
                .insert_header("Discourse-Rate-Limit-Error-Code", "ip_60_secs_limit")
                .set_body_string(slow_down),
            RateLimited,
            Some(7),
        ),
        ("429 in JSON", json(429, limited.clone()), RateLimited, Some(11)),
        ("a limit with another status", json(422, limited), RateLimited, Some(11)),
        ("429 without a word", ResponseTemplate::new(429), RateLimited, None),
        ("404 in JSON", json(404, of_type("not_found")), NotFound, None),
        ("404 in HTML", html(404), NotFound, None),
        ("410", html(410), NotFound, None),
        ("403 of one topic", json(403, of_type("invalid_access")), NotFound, None),
        ("401", json(401, json!({})), AuthFailed, Some(30 * 60)),
        ("another shape", json(200, json!({"topics": []})), Malformed, None),
    ];
    for (what, answer, kind, retry_after) in answers {
        let server = MockServer::start().await;
        Mock::given(method("GET")).respond_with(answer).mount(&server).await;
        let failure = forum(&server).latest(&context()).await.unwrap_err();
        // Where the source states no time, the stack states our own limit's, which here is none.
        let wait = failure.retry_after.filter(|wait| !wait.is_zero());
        assert_eq!((failure.kind, wait), (kind, retry_after.map(Duration::from_secs)), "{what}");
        assert_eq!(failure.source_title, "ValuePickr", "{what}");
    }
}

#[tokio::test]
async fn what_is_null_is_as_good_as_absent() {
    let server = MockServer::start().await;
    let mut hidden = post(2, 2, "");
    hidden["cooked"] = Value::Null;
    hidden["hidden"] = Value::Null;
    let posts = [post(1, 1, "<p>Buy it.</p>"), hidden, post(3, 3, "<p>No.</p>")];
    answer(&server, "/valuepickr/t/7.json", page(&posts, &[1, 2, 3])).await;
    let discussion = forum(&server).discussion(&topic(), &context()).await.unwrap();
    assert_eq!(discussion.thesis, "Buy it.");
    assert_eq!(discussion.recent, ["", "No."]);
}

#[tokio::test]
async fn what_cannot_be_a_slug_is_left_out_of_the_address() {
    let forum = forum(&MockServer::start().await);
    let slug = Identifier::of("reliance industries/../x");
    assert_eq!(forum.address(&slug, 7).as_str(), "https://forum.valuepickr.com/t/-/7");
}
