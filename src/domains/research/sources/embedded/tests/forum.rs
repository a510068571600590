//! ValuePickr.

use serde_json::Value;

use super::Browser;

async fn json(browser: &Browser, path: &str) -> Value {
    let got = browser.get("valuepickr", path).await;
    assert_eq!(got.status, 200, "{path}");
    got.json()
}

fn topics(list: &Value) -> &[Value] {
    list["topic_list"]["topics"].as_array().unwrap()
}

#[tokio::test]
async fn the_latest_topics_come_in_pages_with_pinned_ones_first() {
    let browser = Browser::new();
    let first = json(&browser, "latest.json").await;
    assert_eq!(topics(&first).len(), 30);
    assert_eq!([&topics(&first)[0]["pinned"], &topics(&first)[2]["pinned"]], [true, false]);
    assert_eq!(topics(&first)[1]["last_posted_at"], Value::Null);
    assert_eq!(first["topic_list"]["more_topics_url"], "/latest?page=1");
    let second = json(&browser, "latest.json?page=1").await;
    assert_eq!(topics(&second).len(), 5);
    assert!(second["topic_list"].get("more_topics_url").is_none());
}

#[tokio::test]
async fn the_top_topics_are_those_of_a_period() {
    let browser = Browser::new();
    let daily = json(&browser, "top.json?period=daily").await;
    let monthly = json(&browser, "top.json?period=monthly").await;
    assert!((1..topics(&monthly).len()).contains(&topics(&daily).len()));
    assert!(topics(&daily).iter().all(|topic| topic["bumped_at"].as_str().unwrap() > "2026-01-15"));
}

#[tokio::test]
async fn a_search_finds_words_in_titles_and_posts_and_nothing_is_an_empty_list() {
    let browser = Browser::new();
    for text in ["tata+motors", "TATAMOTORS", "%22Tata+Motors%22+order:latest"] {
        let found = json(&browser, &format!("search.json?q={text}")).await;
        assert_eq!(found["topics"][0]["title"], "Tata Motors - JLR, trucks and deleveraging", "{text}");
        assert_eq!(found["posts"][0]["topic_id"], found["topics"][0]["id"]);
        assert!(found["posts"][0]["blurb"].as_str().unwrap().contains("Tata Motors"));
    }
    let found = json(&browser, "search.json?q=M%26M").await;
    assert_eq!(found["topics"][0]["title"], "Mahindra & Mahindra - SUVs, tractors and value unlocking");
    let none = json(&browser, "search.json?q=zebra").await;
    assert_eq!(none["posts"], serde_json::json!([]));
    assert_eq!(none["topics"], serde_json::json!([]));
    assert_eq!(none["grouped_search_result"]["post_ids"], serde_json::json!([]));
    assert_eq!(browser.get("valuepickr", "search.json").await.status, 400);
}

#[tokio::test]
async fn a_search_by_time_lists_the_newest_post_first() {
    let browser = Browser::new();
    let found = json(&browser, "search.json?q=quarter+order:latest").await;
    let times: Vec<_> =
        found["posts"].as_array().unwrap().iter().map(|post| post["created_at"].as_str().unwrap()).collect();
    assert!(times.len() > 1 && times.is_sorted_by(|a, b| a >= b), "{times:?}");
}

#[tokio::test]
async fn a_long_topic_needs_a_second_request_for_its_newest_posts() {
    let browser = Browser::new();
    let topic = json(&browser, "t/20000.json").await;
    assert_eq!(topic["posts_count"], 34);
    assert_eq!(topic["post_stream"]["posts"].as_array().unwrap().len(), 20);
    let stream = topic["post_stream"]["stream"].as_array().unwrap();
    assert_eq!(stream.len(), 34);
    let more =
        json(&browser, &format!("t/20000/posts.json?post_ids[]={}&post_ids[]={}", stream[32], stream[33]))
            .await;
    let posts = more["post_stream"]["posts"].as_array().unwrap();
    assert_eq!(posts.len(), 2);
    assert_eq!(posts[1]["created_at"], topic["last_posted_at"]);
}

#[tokio::test]
async fn an_unknown_topic_is_not_found() {
    let browser = Browser::new();
    for path in ["t/999.json", "t/999/posts.json?post_ids[]=1", "t/..%2Flatest.json"] {
        let got = browser.get("valuepickr", path).await;
        assert_eq!(got.status, 404, "{path}");
        assert_eq!(got.json()["error_type"], "not_found");
    }
}
