//! Tokens, credentials, limits, and every kind of failure.

use super::*;

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
        (ResponseTemplate::new(200).set_body_raw("<html>", "text/html"), Malformed),
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
        (limited(429).set_body_raw("<html>Too Many Requests</html>", "text/html"), RateLimited, Some(42)),
        (ResponseTemplate::new(429).set_body_json(json!({"error": 429})), RateLimited, None),
        (limited(429).insert_header("Retry-After", "5"), RateLimited, Some(5)),
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
