//! Reddit.

use serde_json::Value;

use super::{Browser, Got};

const TOKEN: &str = "api/v1/access_token";
const GRANT: &str = "grant_type=client_credentials";

async fn authorized(browser: &Browser) -> String {
    let got = browser.post("reddit-token", TOKEN, GRANT, &[("authorization", "Basic aWQ6c2VjcmV0")]).await;
    format!("Bearer {}", got.json()["access_token"].as_str().unwrap())
}

async fn listing(browser: &Browser, path: &str) -> Got {
    browser.get_with("reddit", path, &[("authorization", &authorized(browser).await)]).await
}

fn posts(got: &Got) -> Vec<Value> {
    got.json()["data"]["children"].as_array().unwrap().iter().map(|child| child["data"].clone()).collect()
}

#[tokio::test]
async fn a_token_needs_credentials_and_the_right_grant() {
    let browser = Browser::new();
    assert_eq!(browser.post("reddit-token", TOKEN, GRANT, &[]).await.status, 401);
    assert_eq!(
        browser.post("reddit-token", TOKEN, GRANT, &[("authorization", "Basic Og==")]).await.status,
        401
    );
    let basic = [("authorization", "Basic aWQ6c2VjcmV0")];
    let other = browser.post("reddit-token", TOKEN, "grant_type=password", &basic).await;
    assert_eq!((other.status.as_u16(), &other.json()["error"]), (200, &"unsupported_grant_type".into()));
    assert_eq!(browser.post("reddit-token", TOKEN, GRANT, &basic).await.json()["expires_in"], 86_400);
}

#[tokio::test]
async fn a_listing_needs_a_token_that_holds() {
    let browser = Browser::new();
    let got = browser.get_with("reddit", "r/IndiaInvestments/hot", &[("authorization", "Bearer old")]).await;
    assert_eq!(got.status, 401);
    assert!(got.header("www-authenticate").contains("invalid_token"));
}

#[tokio::test]
async fn stickies_come_on_top_of_the_limit_and_pages_follow_each_other() {
    let browser = Browser::new();
    let got = listing(&browser, "r/IndiaInvestments/hot?limit=5&raw_json=1").await;
    let first = posts(&got);
    assert_eq!(first.iter().filter(|post| post["stickied"] == true).count(), 2);
    assert_eq!(first.len(), 7);
    assert!(got.header("x-ratelimit-remaining").parse::<f64>().unwrap() > 0.0);
    let after = got.json()["data"]["after"].as_str().unwrap().to_owned();
    let next = listing(&browser, &format!("r/IndiaInvestments/hot?limit=5&after={after}")).await;
    assert_eq!(posts(&next).len(), 5);
    assert!(posts(&next).iter().all(|post| !first.contains(post)));
}

#[tokio::test]
async fn listings_hold_what_a_reader_must_skip() {
    let browser = Browser::new();
    for subreddit in ["IndiaInvestments", "IndianStockMarket"] {
        let all = posts(&listing(&browser, &format!("r/{subreddit}/new?limit=100&raw_json=1")).await);
        assert!(all.len() > 25);
        assert!(all.iter().any(|post| post["over_18"] == true));
        assert!(all.iter().any(|post| post["removed_by_category"] == "moderator"));
        assert!(
            all.iter().any(|post| post["edited"] == false) && all.iter().any(|post| post["edited"].is_f64())
        );
        assert!(all.is_sorted_by(|a, b| a["created_utc"].as_f64() >= b["created_utc"].as_f64()));
    }
}

#[tokio::test]
async fn the_top_posts_are_those_of_the_day_unless_asked_otherwise() {
    let browser = Browser::new();
    let day = posts(&listing(&browser, "r/IndianStockMarket/top?limit=100").await);
    let week = posts(&listing(&browser, "r/IndianStockMarket/top?limit=100&t=week").await);
    assert!((1..week.len()).contains(&day.len()), "{} of {}", day.len(), week.len());
    assert!(week.is_sorted_by(|a, b| a["score"].as_i64() >= b["score"].as_i64()));
}

#[tokio::test]
async fn a_search_finds_mentions_of_the_week() {
    let browser = Browser::new();
    let path = "r/IndianStockMarket/search?restrict_sr=1&sort=new&raw_json=1";
    let found =
        posts(&listing(&browser, &format!("{path}&t=week&q=RELIANCE+OR+%22Reliance+Industries%22")).await);
    assert!(!found.is_empty());
    let none = listing(&browser, &format!("{path}&t=month&q=zebra")).await;
    assert_eq!((none.status.as_u16(), posts(&none).len()), (200, 0));
}

#[tokio::test]
async fn ampersands_are_escaped_unless_raw_json_is_asked_for() {
    let browser = Browser::new();
    let path = "r/IndianStockMarket/search?q=%22M%26M%22+OR+%22Mahindra+%26+Mahindra%22&t=all";
    let raw = posts(&listing(&browser, &format!("{path}&raw_json=1")).await);
    let escaped = posts(&listing(&browser, path).await);
    assert!(raw.iter().any(|post| post.to_string().contains("M&M") || post.to_string().contains("a & M")));
    assert!(!escaped.is_empty() && escaped.iter().all(|post| post.to_string().contains("&amp;")));
}

#[tokio::test]
async fn a_subreddit_that_is_not_there_leads_to_the_search() {
    let browser = Browser::new();
    let got = listing(&browser, "r/nosuch/hot").await;
    assert_eq!(got.status, 302);
    assert!(got.header("location").contains("/subreddits/search?q=nosuch"));
}
