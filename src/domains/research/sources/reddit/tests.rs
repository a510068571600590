//! Reddit's answers as it writes them.

use std::time::SystemTime;

use serde_json::{Value, json};
use wiremock::{
    Mock, MockServer, ResponseTemplate,
    matchers::{body_string, header, method, path, query_param},
};

use super::*;
use crate::{
    contract::{ErrorCode, ToolError},
    upstream::{
        http::FailureKind::*,
        now::Now,
        testing::{client, context},
    },
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
        .and(query_param("limit", "12"))
        .and(query_param("raw_json", "1"))
        .and(header("authorization", format!("Bearer {TOKEN}").as_str()))
        .and(header("user-agent", "linux:toolwire:0.1.0 (by /u/tester)"))
        .respond_with(listing(&posts))
        .mount(&server)
        .await;
    let posts = reddit(&server).posts("IndiaInvestments", Sort::Hot, 10, &context()).await.unwrap();
    assert_eq!(posts.iter().map(|post| post.id.as_str()).collect::<Vec<_>>(), ["b", "e"]);
    assert_eq!(posts[0].title, "L&T ‹script>");
    assert_eq!(posts[0].flair.as_deref(), Some("Discussion"));
    assert_eq!(posts[0].permalink.as_str(), "https://www.reddit.com/r/IndiaInvestments/comments/b/thoughts/");
    assert_eq!(posts[0].created_at.to_rfc3339(), "2026-01-16T08:00:00+00:00");
    assert_eq!((posts[1].text.as_str(), posts[1].author.as_str(), posts[1].score), ("", "[deleted]", -4));
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
async fn calls_at_the_same_time_share_one_token() {
    let server = MockServer::start().await;
    give_tokens(&server, 1).await;
    answer(&server, listing(&[])).await;
    let (reddit, context) = (reddit(&server), context());
    let ask = || reddit.posts("IndiaInvestments", Sort::New, 10, &context);
    let (a, b, c) = tokio::join!(ask(), ask(), ask());
    assert!(a.is_ok() && b.is_ok() && c.is_ok());
}

#[tokio::test]
async fn an_expired_token_is_replaced() {
    let server = MockServer::start().await;
    give(&server, given(0), 2).await;
    answer(&server, listing(&[])).await;
    let reddit = reddit(&server);
    for _ in 0..2 {
        reddit.posts("IndiaInvestments", Sort::Top, 10, &context()).await.unwrap();
    }
}

#[tokio::test]
async fn a_refused_token_is_replaced_once() {
    let server = MockServer::start().await;
    give_tokens(&server, 2).await;
    let refused = ResponseTemplate::new(401)
        .insert_header("WWW-Authenticate", "Bearer realm=\"reddit\", error=\"invalid_token\"")
        .set_body_json(json!({"message": "Unauthorized", "error": 401}));
    Mock::given(method("GET")).respond_with(refused).up_to_n_times(1).expect(1).mount(&server).await;
    answer(&server, listing(&[])).await;
    assert!(reddit(&server).posts("IndiaInvestments", Sort::Hot, 10, &context()).await.is_ok());
}

#[tokio::test]
async fn a_token_that_is_refused_again_is_a_failure_of_credentials() {
    let server = MockServer::start().await;
    give_tokens(&server, 2).await;
    Mock::given(method("GET")).respond_with(ResponseTemplate::new(401)).expect(2).mount(&server).await;
    let failure = reddit(&server).posts("IndiaInvestments", Sort::Hot, 10, &context()).await.unwrap_err();
    assert_eq!(failure.kind, AuthFailed);
}

#[tokio::test]
async fn credentials_are_refused_in_more_than_one_way() {
    let answers = [
        (
            ResponseTemplate::new(401).set_body_json(json!({"message": "Unauthorized", "error": 401})),
            AuthFailed,
        ),
        (ResponseTemplate::new(200).set_body_json(json!({"error": "unsupported_grant_type"})), AuthFailed),
        (ResponseTemplate::new(200).set_body_json(json!({"error": 403})), AuthFailed),
        (ResponseTemplate::new(200).set_body_json(json!({"token_type": "bearer"})), Malformed),
        (ResponseTemplate::new(200).set_body_json(json!({"access_token": TOKEN})), Malformed),
        (ResponseTemplate::new(200).set_body_raw("<html>", "text/html"), Blocked),
    ];
    for (answer, kind) in answers {
        let server = MockServer::start().await;
        give(&server, answer, 1).await;
        let failure = reddit(&server).posts("IndiaInvestments", Sort::Hot, 10, &context()).await.unwrap_err();
        assert_eq!((failure.kind, failure.source_title), (kind, "Reddit"), "{failure}");
    }
}

#[tokio::test]
async fn without_credentials_nothing_is_asked_and_the_agent_is_told_why() {
    let server = MockServer::start().await;
    let reddit = reddit_with(None, &server);
    let failure = reddit.posts("IndiaInvestments", Sort::Hot, 10, &context()).await.unwrap_err();
    assert_eq!(failure.kind, NotConfigured);
    let error = ToolError::from(failure);
    assert_eq!((error.code, error.retryable), (ErrorCode::Unavailable, false));
    assert!(error.message.starts_with("Reddit needs credentials"), "{error}");
    assert!(server.received_requests().await.unwrap().is_empty());
}

#[tokio::test]
async fn every_kind_of_failure_is_told_apart() {
    let html = |status| ResponseTemplate::new(status).set_body_raw("<!doctype html><html>", "text/html");
    let found = |to: &str| ResponseTemplate::new(302).insert_header("Location", to);
    let limited = |status| ResponseTemplate::new(status).insert_header("x-ratelimit-reset", "42");
    let closed = json!({"reason": "private", "message": "Forbidden", "error": 403});
    let answers = [
        (found("https://oauth.reddit.com/subreddits/search?q=nothere"), NotFound, None),
        (found("https://www.reddit.com/login"), Malformed, None),
        (
            ResponseTemplate::new(404).set_body_json(json!({"message": "Not Found", "error": 404})),
            NotFound,
            None,
        ),
        (html(404), NotFound, None),
        (ResponseTemplate::new(403).set_body_json(closed), NotFound, None),
        (
            ResponseTemplate::new(403).set_body_json(json!({"message": "Forbidden", "error": 403})),
            Blocked,
            Some(6 * 3600),
        ),
        (html(403), Blocked, Some(6 * 3600)),
        (html(200), Blocked, Some(6 * 3600)),
        (limited(429).set_body_raw("<html>Too Many Requests</html>", "text/html"), RateLimited, Some(42)),
        (ResponseTemplate::new(429).set_body_json(json!({"error": 429})), RateLimited, None),
        (limited(429).insert_header("Retry-After", "5"), RateLimited, Some(5)),
        (html(503), Down, None),
        (ResponseTemplate::new(200).set_body_string("[]"), Malformed, None),
        (listing(&[json!({"id": "a"})]), Malformed, None),
    ];
    for (response, kind, retry_after) in answers {
        let server = MockServer::start().await;
        give_tokens(&server, 1).await;
        let what = format!("{response:?}");
        answer(&server, response).await;
        let failure = reddit(&server).posts("IndiaInvestments", Sort::Hot, 10, &context()).await.unwrap_err();
        // Where the source states no time, the stack states our own limit's, which here is none.
        let wait = failure.retry_after.filter(|wait| !wait.is_zero());
        assert_eq!((failure.kind, wait), (kind, retry_after.map(Duration::from_secs)), "{what}");
        assert_eq!(failure.source_title, "Reddit");
    }
}

#[tokio::test]
async fn once_the_budget_is_used_up_nothing_more_is_asked() {
    let server = MockServer::start().await;
    give_tokens(&server, 1).await;
    let last =
        listing(&[]).insert_header("x-ratelimit-remaining", "0.0").insert_header("x-ratelimit-reset", "300");
    Mock::given(method("GET")).respond_with(last).expect(1).mount(&server).await;
    let reddit = reddit(&server);
    assert!(
        reddit.posts("IndiaInvestments", Sort::Hot, 10, &context()).await.is_ok(),
        "the answer itself is good"
    );
    let failure = reddit.posts("IndiaInvestments", Sort::Hot, 10, &context()).await.unwrap_err();
    assert_eq!(failure.kind, RateLimited);
    let wait = failure.retry_after.unwrap();
    assert!(wait > Duration::from_secs(200) && wait <= Duration::from_mins(5), "{wait:?}");
}

#[tokio::test]
async fn secrets_are_shown_nowhere() {
    let server = MockServer::start().await;
    give_tokens(&server, 2).await;
    answer(&server, ResponseTemplate::new(401)).await;
    let reddit = reddit(&server);
    let failure = reddit.posts("IndiaInvestments", Sort::Hot, 10, &context()).await.unwrap_err();
    let token = reddit.tokens.get(&reddit.client, &reddit.settings, &context()).await.unwrap();
    let request = reddit.request(&server.uri().parse().unwrap(), &token.bearer);
    let error = ToolError::from(failure.clone());
    for shown in [
        format!("{reddit:?}"),
        format!("{token:?}"),
        format!("{request:?}"),
        format!("{failure} {failure:?} {error} {error:?}"),
    ] {
        assert!(!shown.contains(SECRET) && !shown.contains(TOKEN) && !shown.contains("Aladdin"), "{shown}");
        assert!(!shown.contains("QWxhZGRpbjp"), "{shown}");
    }
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

#[tokio::test]
async fn a_subreddit_that_has_moved_within_the_api_is_followed() {
    let server = MockServer::start().await;
    give_tokens(&server, 1).await;
    let moved =
        ResponseTemplate::new(301).insert_header("Location", "/reddit/r/IndiaInvestments/hot?limit=12");
    Mock::given(path("/reddit/r/indiainvestments/hot")).respond_with(moved).mount(&server).await;
    Mock::given(path("/reddit/r/IndiaInvestments/hot"))
        .and(header("authorization", format!("Bearer {TOKEN}").as_str()))
        .respond_with(listing(&[post("a", &json!({}))]))
        .mount(&server)
        .await;
    let posts = reddit(&server).posts("indiainvestments", Sort::Hot, 10, &context()).await.unwrap();
    assert_eq!(posts.len(), 1);
}
