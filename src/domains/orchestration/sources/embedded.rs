//! The embedded twin of the web search: an engine within the process that knows a few invented pages.
//!
//! It finds those that have a word of the query, those with most of them first, and answers as `SearXNG` does.

use std::{collections::HashSet, time::SystemTime};

use axum::{Router, extract::Query, response::IntoResponse, routing::get};
use chrono::{DateTime, Utc};
use http::header;
use serde::Deserialize;
use serde_json::{Value, json};
use url::Url;

use toolwire_sources::upstream::http::Sender;
use toolwire_state::workspace::terms;

/// The pages. Of the program and not of `--data`: they are made for this twin alone.
const PAGES: &str = include_str!("../data/orchestration/pages.json");

/// Where the twin is. No name of this domain can lead anywhere (RFC 6761).
const ORIGIN: &str = "http://search.invalid/";

/// When the pages were written.
const RECORDED_AT: &str = "2026-01-15T00:00:00Z";

/// The same connections, on which the twin answers.
pub fn attach(sender: Sender) -> Sender {
    sender.with_in_process(&base(), Router::new().route("/search", get(search)))
}

/// The base address of the twin.
pub fn base() -> Url {
    Url::parse(ORIGIN).expect("a constant address")
}

/// When the pages were written.
pub fn recorded_at() -> SystemTime {
    let at: DateTime<Utc> = RECORDED_AT.parse().expect("a constant time");
    at.into()
}

#[derive(Deserialize)]
struct SearchQuery {
    #[serde(default)]
    q: String,
}

async fn search(Query(SearchQuery { q }): Query<SearchQuery>) -> impl IntoResponse {
    let body = json!({"query": q, "results": find_pages(&q)}).to_string();
    ([(header::CONTENT_TYPE, "application/json")], body)
}

fn find_pages(query: &str) -> Vec<Value> {
    let pages: Vec<Value> = serde_json::from_str(PAGES).expect("they are checked by a test");
    let words: HashSet<_> = terms::terms(query).collect();
    let mut scored: Vec<_> = pages.into_iter().map(|page| (score(&page, &words), page)).collect();
    scored.retain(|(score, _)| *score > 0);
    scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    scored.into_iter().map(|(_, page)| page).collect()
}

/// How many of the words a page has.
fn score(page: &Value, words: &HashSet<String>) -> usize {
    let text = format!(
        "{} {}",
        page["title"].as_str().unwrap_or_default(),
        page["content"].as_str().unwrap_or_default()
    );
    let has: HashSet<_> = terms::terms(&text).collect();
    words.intersection(&has).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_has_what_an_engine_tells() {
        let pages: Vec<Value> = serde_json::from_str(PAGES).unwrap();
        assert!(pages.len() >= 10);
        for page in pages {
            for key in ["title", "url", "content"] {
                assert!(page[key].as_str().is_some_and(|text| !text.is_empty()), "{page}");
            }
        }
    }

    #[test]
    fn pages_with_more_of_the_words_come_first() {
        let titles: Vec<_> =
            find_pages("write-ahead log in SQLite").iter().map(|page| page["title"].clone()).collect();
        assert_eq!(titles[0], "Write-ahead logging in SQLite");
        assert_eq!(find_pages("xylophone"), Vec::<Value>::new());
    }
}
