//! Reddit's answers as it writes them.

mod refusals;

use std::time::SystemTime;

use serde_json::{Value, json};
use wiremock::{
    Mock, MockServer, ResponseTemplate,
    matchers::{body_string, header, method, path, query_param},
};

use super::*;
use toolwire_contract::{ErrorCode, ToolError};
use toolwire_sources::upstream::{
    http::FailureKind::*,
    now::Now,
    testing::{client, context},
};

const TOKEN: &str = "token-that-nobody-may-see";
const SECRET: &str = "secret-that-nobody-may-see";
const TOKENS: &str = "/reddit-token/api/v1/access_token";

fn reddit_with(credentials: Option<Credentials>, server: &MockServer) -> Reddit {
    let url = |prefix: &str| format!("{}/{prefix}/", server.uri()).parse().unwrap();
    let settings = Settings {
        api_url: url("reddit"),
        token_url: url("reddit-token"),
        public_url: "https://www.reddit.com/".parse().unwrap(),
        user_agent: HeaderValue::from_static("linux:toolwire:0.1.0 (by /u/tester)"),
        credentials,
        now: Now::Recorded(SystemTime::UNIX_EPOCH),
    };
    Reddit::new(client(PROFILE), settings)
}

fn reddit(server: &MockServer) -> Reddit {
    let credentials = Credentials { client_id: "Aladdin".into(), client_secret: SECRET.into() };
    reddit_with(Some(credentials), server)
}

fn given(expires_in: u32) -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_json(
        json!({"access_token": TOKEN, "token_type": "bearer", "expires_in": expires_in, "scope": "*"}),
    )
}

async fn give_tokens(server: &MockServer, times: u64) {
    give(server, given(86_400), times).await;
}

async fn give(server: &MockServer, answer: ResponseTemplate, times: u64) {
    Mock::given(method("POST"))
        .and(path(TOKENS))
        .and(body_string("grant_type=client_credentials"))
        .and(header("user-agent", "linux:toolwire:0.1.0 (by /u/tester)"))
        .respond_with(answer)
        .expect(times)
        .mount(server)
        .await;
}

async fn answer(server: &MockServer, answer: ResponseTemplate) {
    Mock::given(method("GET")).respond_with(answer).mount(server).await;
}

fn listing(posts: &[Value]) -> ResponseTemplate {
    let children: Vec<_> = posts.iter().map(|post| json!({"kind": "t3", "data": post})).collect();
    ResponseTemplate::new(200)
        .set_body_json(json!({"kind": "Listing", "data": {"after": null, "children": children}}))
}

fn post(id: &str, changes: &Value) -> Value {
    let mut post = json!({"id": id, "name": format!("t3_{id}"), "title": "Thoughts on TCS", "selftext": "Good company.",
        "author": "someone", "score": 12, "upvote_ratio": 0.91, "num_comments": 3, "created_utc": 1_768_550_400.0,
        "edited": 1_768_550_500.0, "permalink": format!("/r/IndiaInvestments/comments/{id}/thoughts/"), "is_self": true,
        "stickied": false, "over_18": false, "link_flair_text": null, "removed_by_category": null});
    for (key, value) in changes.as_object().unwrap() {
        post[key] = value.clone();
    }
    post
}

#[tokio::test]
async fn posts_are_listed_without_those_that_may_not_be_shown() {
    let server = MockServer::start().await;
    give_tokens(&server, 1).await;
    let posts = [
        post("a", &json!({"stickied": true})),
        post(
            "b",
            &json!({"link_flair_text": "\u{202e}Discussion", "edited": false, "title": "L&T <script>"}),
        ),
        post("c", &json!({"over_18": true})),
        post("d", &json!({"removed_by_category": "moderator"})),
        post(
            "e",
            &json!({"selftext": "[removed]", "author": null, "permalink": "https://evil.example/", "score": -4}),
        ),
    ];
    Mock::given(path("/reddit/r/IndiaInvestments/hot"))
        .and(query_param("limit", "13"))
        .and(query_param("raw_json", "1"))
        .and(header("authorization", format!("Bearer {TOKEN}").as_str()))
        .and(header("user-agent", "linux:toolwire:0.1.0 (by /u/tester)"))
        .respond_with(listing(&posts))
        .mount(&server)
        .await;
    let posts = reddit(&server).posts("IndiaInvestments", Sort::Hot, 10, &context()).await.unwrap();
    assert_eq!(posts.iter().map(|post| &*post.id).collect::<Vec<_>>(), ["b", "e"]);
    assert_eq!(posts[0].title, "L&T ‹script>");
    assert_eq!(posts[0].flair.as_deref(), Some("Discussion"));
    assert_eq!(posts[0].permalink.as_str(), "https://www.reddit.com/r/IndiaInvestments/comments/b/thoughts/");
    assert_eq!(posts[0].created_at.to_rfc3339(), "2026-01-16T08:00:00+00:00");
    assert_eq!((&*posts[1].text, posts[1].author.as_deref(), posts[1].score), ("", None, -4));
    assert_eq!(posts[1].permalink.as_str(), "https://www.reddit.com/comments/e", "always on the site itself");
    let token_request = &server.received_requests().await.unwrap()[0];
    assert!(token_request.headers["authorization"].to_str().unwrap().starts_with("Basic QWxhZGRpbjp"));
}

#[tokio::test]
async fn a_search_stays_in_its_subreddit_and_may_find_nothing() {
    let server = MockServer::start().await;
    give_tokens(&server, 1).await;
    Mock::given(path("/reddit/r/IndianStockMarket/search"))
        .and(query_param("q", "\"Tata Motors\" OR TATAMOTORS"))
        .and(query_param("restrict_sr", "1"))
        .and(query_param("sort", "new"))
        .and(query_param("t", "month"))
        .and(query_param("raw_json", "1"))
        .respond_with(listing(&[]))
        .mount(&server)
        .await;
    let found =
        reddit(&server).search("IndianStockMarket", "\"Tata Motors\" OR TATAMOTORS", &context()).await;
    assert_eq!(found, Ok(Vec::new()));
}

#[tokio::test]
async fn a_ratio_that_is_hidden_is_none_and_a_query_in_a_permalink_stays_one() {
    let server = MockServer::start().await;
    give_tokens(&server, 1).await;
    let permalink = "/r/IndiaInvestments/comments/a/why/?utm_source=share&context=3";
    let posts = [
        post("a", &json!({"upvote_ratio": null, "permalink": permalink})),
        post("b", &json!({"permalink": "/r/../../comments/x"})),
        post("c", &json!({"permalink": "/r//evil.example/x?y"})),
    ];
    answer(&server, listing(&posts)).await;
    let posts = reddit(&server).posts("IndiaInvestments", Sort::Hot, 10, &context()).await.unwrap();
    assert_eq!(posts[0].upvote_ratio, None);
    assert_eq!(posts[0].permalink.as_str(), format!("https://www.reddit.com{permalink}"));
    assert_eq!(posts[1].permalink.as_str(), "https://www.reddit.com/comments/b", "not a post of a subreddit");
    assert_eq!(posts[2].permalink.as_str(), "https://www.reddit.com/r//evil.example/x?y");
}
