//! News: the feeds of MoneyControl and the Economic Times, and a search in Google News (spec 004 §3.4).
//!
//! All three are one source in limits and cool-downs. Reads feeds, never the articles themselves.

mod articles;
mod date;
mod decode;

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use futures_util::future::join;
use http::{HeaderValue, header};
use url::Url;

pub use self::articles::Article;
use self::articles::{Publisher, merged, read};
use crate::upstream::{
    http::{Client, CredentialsOf, ExpectedBody, Failure, Outgoing, Profile},
    now::Now,
};
use crate::{context::ToolContext, contract::ToolError};

/// What the stack must know of the news.
pub const PROFILE: Profile = Profile {
    name: "news",
    title: "The news",
    timeout: Duration::from_secs(10),
    max_body: 2 * 1024 * 1024,
    may_retry: true,
    credentials: CredentialsOf::Service,
    check: |_| None,
};

/// A feed whose newest item is older is taken to be frozen: MoneyControl's answer 200 with news of years ago.
const MAX_AGE: TimeDelta = TimeDelta::days(3);

/// The connector.
#[derive(Debug)]
pub struct News {
    client: Client,
    settings: Settings,
}

/// Where the feeds are. Each address ends in `/`.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Such as `https://www.moneycontrol.com/`.
    pub moneycontrol_url: Url,
    /// Such as `https://economictimes.indiatimes.com/`.
    pub economic_times_url: Url,
    /// Such as `https://news.google.com/`.
    pub google_url: Url,
    /// What time it is there.
    pub now: Now,
}

/// What is in the news.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Category {
    /// The markets.
    Markets,
    /// Single stocks.
    Stocks,
    /// The economy.
    Economy,
}

/// What feeds had.
#[derive(Clone, Debug, PartialEq)]
pub struct Headlines {
    /// The articles, newest first, each once; those without a time last.
    pub articles: Vec<Article>,
    /// Whether even the newest is too old to be news.
    pub is_stale: bool,
    /// What a reader should know of the feeds.
    pub warnings: Vec<String>,
}

impl News {
    /// The connector that asks through the given client.
    pub fn new(client: Client, settings: Settings) -> Self {
        Self { client, settings }
    }

    /// What time it is for the feeds.
    pub fn now(&self) -> DateTime<Utc> {
        self.settings.now.get().into()
    }

    /// The headlines of a category: those of MoneyControl and of the Economic Times together. A feed that is stale or
    /// fails is left out, and said to be, as long as the other has news; where both are stale, they are shown as such.
    pub async fn headlines(&self, category: Category, context: &ToolContext) -> Result<Headlines, Failure> {
        let asked = join(self.moneycontrol(category, context), self.economic_times(category, context)).await;
        let (mut fresh, mut stale) = (Vec::new(), Vec::new());
        let (mut warnings, mut failures) = (Vec::new(), Vec::new());
        for (publisher, feed) in [("MoneyControl", asked.0), ("The Economic Times", asked.1)] {
            match feed {
                Ok(articles) if !self.is_stale(&articles) => fresh.push(articles),
                Ok(articles) => {
                    warnings.push(self.staleness(publisher, &articles));
                    stale.push(articles);
                }
                Err(failure) => {
                    let error = ToolError::from(failure.clone());
                    warnings.push(format!("{publisher} is left out: {}", error.message));
                    failures.push(failure);
                }
            }
        }
        let is_stale = fresh.is_empty();
        let shown = if is_stale { stale } else { fresh };
        match (shown.is_empty(), failures.pop()) {
            (true, Some(failure)) => Err(failure),
            _ => Ok(Headlines { articles: merged(shown.into_iter().flatten()), is_stale, warnings }),
        }
    }

    /// What Google News found for a name in the last days. Nothing is no failure.
    pub async fn about(&self, name: &str, days: u32, context: &ToolContext) -> Result<Vec<Article>, Failure> {
        let query = format!("\"{name}\" when:{days}d");
        let mut url = address(&self.settings.google_url, "rss/search")?;
        let language = [("hl", "en-IN"), ("gl", "IN"), ("ceid", "IN:en")];
        url.query_pairs_mut().append_pair("q", &query).extend_pairs(language);
        self.feed(url, Publisher::InTitle, context).await
    }

    async fn moneycontrol(&self, category: Category, context: &ToolContext) -> Result<Vec<Article>, Failure> {
        let path = match category {
            Category::Markets => "rss/marketreports.xml",
            Category::Stocks => "rss/buzzingstocks.xml",
            Category::Economy => "rss/economy.xml",
        };
        let url = address(&self.settings.moneycontrol_url, path)?;
        self.feed(url, Publisher::Named("MoneyControl"), context).await
    }

    async fn economic_times(
        &self,
        category: Category,
        context: &ToolContext,
    ) -> Result<Vec<Article>, Failure> {
        let path = match category {
            Category::Markets => "markets/rssfeeds/1977021501.cms",
            Category::Stocks => "markets/stocks/rssfeeds/2146842.cms",
            Category::Economy => "news/economy/rssfeeds/1373380680.cms",
        };
        let url = address(&self.settings.economic_times_url, path)?;
        self.feed(url, Publisher::Named("Economic Times"), context).await
    }

    async fn feed(
        &self,
        url: Url,
        publisher: Publisher,
        context: &ToolContext,
    ) -> Result<Vec<Article>, Failure> {
        let accepted = HeaderValue::from_static("application/rss+xml, application/xml, text/xml");
        let request = Outgoing::get(url, ExpectedBody::Xml).with_header(header::ACCEPT, accepted);
        let answer = self.client.send_following(request, context).await?;
        let articles = read(&decode::text(&answer), publisher, self.now());
        articles.map_err(|error| {
            let failure = Failure::malformed(format!("not the feed that was due: {error}"));
            self.client.failed(failure, context)
        })
    }

    fn is_stale(&self, articles: &[Article]) -> bool {
        newest(articles).is_none_or(|newest| self.now() - newest > MAX_AGE)
    }

    fn staleness(&self, publisher: &str, articles: &[Article]) -> String {
        newest(articles).map_or_else(
            || format!("stale: the feed of {publisher} has no dated news"),
            |newest| {
                let days = (self.now() - newest).num_days();
                format!("stale: the newest item in the feed of {publisher} is {days} days old")
            },
        )
    }
}

fn newest(articles: &[Article]) -> Option<DateTime<Utc>> {
    articles.iter().filter_map(|article| article.published_at).max()
}

fn address(base: &Url, path: &str) -> Result<Url, Failure> {
    base.join(path).map_err(|error| Failure::malformed(error.to_string()))
}

#[cfg(test)]
mod tests;
