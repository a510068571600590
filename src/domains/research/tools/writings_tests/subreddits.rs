//! `browse_reddit` and `get_reddit_mentions`.

use chrono::TimeDelta;
use serde_json::{Value, json};
use wiremock::{
    Mock, MockServer, Request, ResponseTemplate,
    matchers::{method, path},
};

use super::{sentiment::CAVEAT, *};

async fn give_tokens(server: &MockServer) {
    let token = json!({"access_token": "t", "token_type": "bearer", "expires_in": 3600});
    Mock::given(method("POST"))
        .and(path("/reddit-token/api/v1/access_token"))
        .respond_with(ResponseTemplate::new(200).set_body_json(token))
        .mount(server)
        .await;
}

/// A post of this many days ago.
fn post(id: &str, title: &str, days: i64) -> Value {
    let created = NOW.parse::<DateTime<Utc>>().unwrap() - TimeDelta::days(days);
    json!({"kind": "t3", "data": {"id": id, "title": title, "selftext": "x ".repeat(400), "author": "a\u{200b}b",
        "score": 5, "upvote_ratio": 0.5, "num_comments": 2, "created_utc": created.timestamp(),
        "permalink": format!("/r/x/comments/{id}/t/"), "link_flair_text": "<b>Flair</b>"}})
}

fn listing(posts: &[Value]) -> Value {
    json!({"kind": "Listing", "data": {"children": posts}})
}

#[tokio::test]
async fn a_subreddit_is_browsed_with_the_mood_of_what_is_shown() {
    let server = MockServer::start().await;
    give_tokens(&server).await;
    let posts = [post("a", "Strong growth", 1), post("b", "Weak quarter", 2), post("c", "Great rally", 3)];
    answer(&server, "/reddit/r/IndianStockMarket/top", listing(&posts)).await;
    let input = BrowseRedditRequest {
        subreddit: Some("IndianStockMarket".to_owned()),
        sort: Some("top".to_owned()),
        limit: Some(2),
    };
    let reply = BrowseReddit.execute(input, &call(&server)).await.unwrap();
    let moods: Vec<_> = reply.data.posts.iter().map(|post| post.sentiment.as_str()).collect();
    assert_eq!(moods, ["positive", "negative"]);
    let sentiment = reply.data.sentiment.unwrap();
    assert_eq!((sentiment.positive, sentiment.negative, sentiment.method.as_str()), (1, 1, "lexicon"));
    let more = "The first 2 posts are shown, and there are more.";
    assert_eq!(reply.provenance.warnings, [more, CAVEAT]);
    let first = &reply.data.posts[0];
    assert_eq!((first.author.as_str(), first.flair.as_deref()), ("[deleted]", Some("‹b>Flair‹/b>")));
    assert!(first.excerpt.chars().count() <= 300 && first.excerpt.ends_with('…'));
    assert_eq!(first.created_at, "2026-01-15T10:00:00Z");
    assert_eq!(reply.provenance.source_ids, ["tool:reddit:v1"]);
}

#[tokio::test]
async fn mentions_are_those_of_the_period_in_both_subreddits_newest_first() {
    let server = MockServer::start().await;
    give_tokens(&server).await;
    let posts = [post("a", "RELIANCE is cheap", 6), post("b", "RELIANCE then", 8)];
    answer(&server, "/reddit/r/IndiaInvestments/search", listing(&posts)).await;
    let posts = [post("c", "Reliance fell", 7), post("d", "Reliance again", 1)];
    answer(&server, "/reddit/r/IndianStockMarket/search", listing(&posts)).await;
    let input =
        GetRedditMentionsRequest { symbol: Some("reliance".to_owned()), days: Some(7), limit: Some(2) };
    let reply = GetRedditMentions.execute(input, &call(&server)).await.unwrap();
    let cut = "2 of 3 mentions are shown.";
    assert_eq!(reply.provenance.warnings, [CAVEAT, cut]);
    let reply = reply.data;
    assert_eq!(
        (reply.symbol.as_str(), reply.mentions_count),
        ("RELIANCE", 3),
        "those beyond the limit count"
    );
    let found: Vec<_> = reply.mentions.iter().map(|it| (it.title.as_str(), it.subreddit.as_str())).collect();
    assert_eq!(found, [("Reliance again", "IndianStockMarket"), ("RELIANCE is cheap", "IndiaInvestments")]);
    let sentiment = reply.sentiment.unwrap();
    assert_eq!((sentiment.positive, sentiment.neutral, sentiment.negative), (1, 1, 1));
    let is_search = |request: &&Request| request.url.path().ends_with("/search");
    let asked = server.received_requests().await.unwrap();
    let query = asked.iter().find(is_search).unwrap().url.query_pairs().next().unwrap().1.into_owned();
    assert_eq!(query, "\"Reliance Industries\" OR RELIANCE");
}

#[tokio::test]
async fn one_closed_subreddit_is_a_warning_and_two_are_a_failure() {
    let input =
        || GetRedditMentionsRequest { symbol: Some("NEWCO".to_owned()), days: Some(7), limit: Some(2) };
    let server = MockServer::start().await;
    give_tokens(&server).await;
    answer(&server, "/reddit/r/IndianStockMarket/search", listing(&[])).await;
    let reply = GetRedditMentions.execute(input(), &call(&server)).await.unwrap();
    assert_eq!(reply.data.mentions_count, 0);
    let warnings = reply.provenance.warnings;
    assert_eq!(reply.data.sentiment, None, "no mood of nothing");
    assert!(warnings[0].starts_with("Unknown symbol 'NEWCO'."), "{warnings:?}");
    assert_eq!(warnings[1], "r/IndiaInvestments is not there or is closed.");
    let server = MockServer::start().await;
    give_tokens(&server).await;
    let error = failed(GetRedditMentions.execute(input(), &call(&server)).await);
    assert_eq!((error.code, error.retryable), (ErrorCode::NotFound, false));
}

#[tokio::test]
async fn what_was_found_before_a_limit_is_kept() {
    let input =
        || GetRedditMentionsRequest { symbol: Some("RELIANCE".to_owned()), days: Some(7), limit: Some(2) };
    let busy = || ResponseTemplate::new(429).insert_header("retry-after", "600");
    for (found, refused, refusal) in [
        ("IndiaInvestments", "IndianStockMarket", busy()),
        ("IndiaInvestments", "IndianStockMarket", ResponseTemplate::new(503)),
        ("IndianStockMarket", "IndiaInvestments", ResponseTemplate::new(503)),
    ] {
        let server = MockServer::start().await;
        give_tokens(&server).await;
        let posts = [post("a", "RELIANCE is cheap", 6)];
        answer(&server, &format!("/reddit/r/{found}/search"), listing(&posts)).await;
        Mock::given(path(format!("/reddit/r/{refused}/search"))).respond_with(refusal).mount(&server).await;
        let reply = GetRedditMentions.execute(input(), &call(&server)).await.unwrap();
        assert_eq!(reply.data.mentions.len(), 1);
        let [warning, CAVEAT] = &reply.provenance.warnings.iter().map(String::as_str).collect::<Vec<_>>()[..]
        else {
            panic!("{:?}", reply.provenance)
        };
        assert!(warning.starts_with(&format!("What r/{refused} has is missing: Reddit")), "{warning}");
    }
    let server = MockServer::start().await;
    give_tokens(&server).await;
    Mock::given(method("GET")).respond_with(busy()).mount(&server).await;
    let error = failed(GetRedditMentions.execute(input(), &call(&server)).await);
    assert_eq!(error.code, ErrorCode::RateLimited);
}
