//! The articles of a feed: read, made safe, each once, newest first.

use std::collections::HashSet;

use chrono::{DateTime, TimeDelta, Utc};
use feed_rs::{model::Entry, parser::ParseFeedError};
use url::Url;

use super::feed::{self, Entries};
use toolwire_sources::upstream::text::{Line, Link, Passage};

/// The bound on a summary, in characters.
const MAX_SUMMARY: usize = 300;
/// A feed whose items are from further ahead has a wrong clock.
const MAX_AHEAD: TimeDelta = TimeDelta::days(1);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Article {
    pub title: Line,
    /// Summary. Empty if the feed has none, or only the title once more.
    pub summary: Passage,
    pub publisher: Line,
    /// When it was published, if the feed says so.
    pub published_at: Option<DateTime<Utc>>,
    /// Its address. `None` if the feed has none that leads to the web.
    pub url: Option<Url>,
}

/// Where a feed says who published an article.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Publisher {
    /// Nowhere: it is always the same.
    Named(&'static str),
    /// Behind the title: `Title - Publisher`.
    InTitle,
}

/// What a feed had.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Articles {
    /// The articles, newest first, each once; those without a time last.
    pub articles: Vec<Article>,
    /// How many entries are left out, since they cannot be read or have no title.
    pub left_out: usize,
}

pub(super) fn read(feed: &str, publisher: Publisher, now: DateTime<Utc>) -> Result<Articles, ParseFeedError> {
    let Entries { entries, broken } = feed::read(feed)?;
    let count = entries.len();
    let articles: Vec<_> = entries.into_iter().filter_map(|entry| article(entry, publisher, now)).collect();
    let left_out = broken + count - articles.len();
    Ok(Articles { articles: merge(articles), left_out })
}

/// Articles in one list, newest first. Of two with the same address or title the first stays: identifiers do not tell
/// them apart, since an item without one is given one at random.
pub(super) fn merge(articles: impl IntoIterator<Item = Article>) -> Vec<Article> {
    let mut seen = HashSet::new();
    let mut is_new = |article: &Article| {
        let is_new_title = seen.insert(words_of(&article.title));
        let is_new_url = article.url.as_ref().is_none_or(|url| seen.insert(url.to_string()));
        is_new_title && is_new_url
    };
    let mut articles: Vec<_> = articles.into_iter().filter(|article| is_new(article)).collect();
    articles.sort_by_key(|article| std::cmp::Reverse(article.published_at));
    articles
}

/// A title as one compares it: publishers differ in case and signs.
fn words_of(title: &str) -> String {
    let words = title.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

/// `None` for an item without a title.
fn article(entry: Entry, publisher: Publisher, now: DateTime<Utc>) -> Option<Article> {
    // Titles are escaped twice: the parser has undone the first.
    let title = Line::of_html(&entry.title?.content);
    let (title, publisher) = match publisher {
        Publisher::Named(name) => (title, Line::of(name)),
        Publisher::InTitle => match title.rsplit_once(" - ") {
            Some((title, name)) => (Line::of(title), Line::of(name)),
            None => (title, Line::default()),
        },
    };
    if title.is_empty() {
        return None;
    }
    let summary = entry.summary.map(|summary| Passage::of_html(&summary.content, MAX_SUMMARY));
    let url = entry.links.iter().find_map(|link| Url::parse(&Link::of(link.href.trim())).ok().filter(is_web));
    Some(Article {
        summary: summary.filter(|summary| !summary.contains(&*title)).unwrap_or_default(),
        title,
        publisher,
        published_at: entry.published.filter(|published| *published <= now + MAX_AHEAD),
        url,
    })
}

fn is_web(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https")
}
