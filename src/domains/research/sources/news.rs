//! News: the feeds of MoneyControl and the Economic Times, and a search in Google News.
//!
//! All three are one source in limits. A cool-down or a pause is of one host: the others go on. Reads feeds, never the
//! articles themselves.

mod articles;
mod date;
mod feed;

use std::time::{Duration, SystemTime};

use chrono::{DateTime, TimeDelta, Utc};
use futures_util::future::join;
use http::{HeaderValue, header};
use url::Url;

pub use self::articles::{Article, Articles};
use self::articles::{Publisher, merge, read};
use super::xml_text;
use toolwire_contract::ToolError;
use toolwire_sources::upstream::{
    http::{Answer, Client, CredentialsOf, ExpectedBody, Failure, FailureKind, Outgoing, Part, Profile},
    now::Now,
};
use toolwire_tool::context::ToolContext;

/// What the stack must know of the news.
pub const PROFILE: Profile = Profile {
    name: "news",
    title: "The news",
    timeout: Duration::from_secs(10),
    max_body: 2 * 1024 * 1024,
    may_retry: true,
    credentials: CredentialsOf::None,
    check,
};

/// A feed whose newest item is older is taken to be frozen: MoneyControl's answer 200 with news of years ago.
const MAX_AGE: TimeDelta = TimeDelta::days(3);

const MONEYCONTROL: Part = Part { name: "news/moneycontrol", title: "MoneyControl" };
const ECONOMIC_TIMES: Part = Part { name: "news/economic_times", title: "The Economic Times" };
const GOOGLE: Part = Part { name: "news/google", title: "Google News" };

#[derive(Debug)]
pub struct News {
    moneycontrol: Client,
    economic_times: Client,
    google: Client,
    settings: Settings,
}

/// Where the feeds are. Each address ends in `/`.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The address of Moneycontrol, such as `https://www.moneycontrol.com/`.
    pub moneycontrol_url: Url,
    /// The address of the Economic Times, such as `https://economictimes.indiatimes.com/`.
    pub economic_times_url: Url,
    /// The address of Google News, such as `https://news.google.com/`.
    pub google_url: Url,
    /// The clock of the feeds.
    pub now: Now,
}

/// A category of news.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum Category {
    Markets,
    Stocks,
    Economy,
}

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
    /// The connector over the given client.
    #[allow(clippy::needless_pass_by_value, reason = "the form of every connector")]
    pub fn new(client: Client, settings: Settings) -> Self {
        let [moneycontrol, economic_times, google] =
            [MONEYCONTROL, ECONOMIC_TIMES, GOOGLE].map(|part| client.apart(part));
        Self { moneycontrol, economic_times, google, settings }
    }

    /// The present time of the feeds.
    pub fn now(&self) -> DateTime<Utc> {
        self.settings.now.get().into()
    }

    /// When the news was recorded, if it is embedded.
    pub fn recorded_at(&self) -> Option<SystemTime> {
        self.settings.now.recorded_at()
    }

    /// The headlines of a category, of MoneyControl and the Economic Times together. What one of them lacks is a
    /// warning, as long as the other has something; the call ends in time whatever becomes of either.
    pub async fn headlines(&self, category: Category, context: &ToolContext) -> Result<Headlines, Failure> {
        let context = &with_reserve(context);
        let feeds = join(self.moneycontrol(category, context), self.economic_times(category, context)).await;
        let (mut fresh, mut stale, mut warnings, mut failures) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (part, feed) in [(MONEYCONTROL, feeds.0), (ECONOMIC_TIMES, feeds.1)] {
            match feed {
                Ok(Articles { articles, left_out }) => {
                    warnings.extend(warn_lost(part.title, left_out));
                    if self.is_stale(&articles) {
                        warnings.push(self.staleness(part.title, &articles));
                        stale.push(articles);
                    } else {
                        fresh.push(articles);
                    }
                }
                Err(failure) => {
                    let error = ToolError::from(failure.clone());
                    warnings.push(format!("{} is left out: {}", part.title, error.message));
                    failures.push(failure);
                }
            }
        }
        if fresh.is_empty() && stale.iter().all(Vec::is_empty) && !failures.is_empty() {
            return Err(most_hopeful(failures));
        }
        let is_stale = fresh.is_empty();
        let shown = if is_stale { stale } else { fresh };
        Ok(Headlines { articles: merge(shown.into_iter().flatten()), is_stale, warnings })
    }

    /// What Google News found for a name in the last days. An empty list is not a failure.
    pub async fn about(&self, name: &str, days: u32, context: &ToolContext) -> Result<Articles, Failure> {
        let query = format!("\"{name}\" when:{days}d");
        let mut url = address(&self.settings.google_url, "rss/search")?;
        let language = [("hl", "en-IN"), ("gl", "IN"), ("ceid", "IN:en")];
        url.query_pairs_mut().append_pair("q", &query).extend_pairs(language);
        fetch(&self.google, url, Publisher::InTitle, self.now(), context).await
    }

    async fn moneycontrol(&self, category: Category, context: &ToolContext) -> Result<Articles, Failure> {
        let path = match category {
            Category::Markets => "rss/marketreports.xml",
            Category::Stocks => "rss/buzzingstocks.xml",
            Category::Economy => "rss/economy.xml",
        };
        let url = address(&self.settings.moneycontrol_url, path)?;
        fetch(&self.moneycontrol, url, Publisher::Named("MoneyControl"), self.now(), context).await
    }

    async fn economic_times(&self, category: Category, context: &ToolContext) -> Result<Articles, Failure> {
        let path = match category {
            Category::Markets => "markets/rssfeeds/1977021501.cms",
            Category::Stocks => "markets/stocks/rssfeeds/2146842.cms",
            Category::Economy => "news/economy/rssfeeds/1373380680.cms",
        };
        let url = address(&self.settings.economic_times_url, path)?;
        fetch(&self.economic_times, url, Publisher::Named("Economic Times"), self.now(), context).await
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

/// What only publishers say: they refuse with a page in place of a feed, which they have no other way to say.
fn check(answer: &Answer) -> Option<Failure> {
    let is_refused = answer.status.is_success() && answer.is_html();
    is_refused.then(|| Failure::new(FailureKind::Blocked, "a page in place of a feed"))
}

fn newest(articles: &[Article]) -> Option<DateTime<Utc>> {
    articles.iter().filter_map(|article| article.published_at).max()
}

async fn fetch(
    client: &Client,
    url: Url,
    publisher: Publisher,
    now: DateTime<Utc>,
    context: &ToolContext,
) -> Result<Articles, Failure> {
    let accepted = HeaderValue::from_static("application/rss+xml, application/xml, text/xml");
    let request = Outgoing::get(url, ExpectedBody::Xml).with_header(header::ACCEPT, accepted);
    let answer = client.send(request, context).await?;
    let articles = move |answer: &Answer| {
        let articles = read(&xml_text::text(answer)?, publisher, now);
        articles.map_err(|error| Failure::malformed(format!("not the feed that was due: {error}")))
    };
    client.read(answer, context, articles).await
}

/// The call, for feeds that end a little earlier: what one of them had is returned though the other hangs.
fn with_reserve(context: &ToolContext) -> ToolContext {
    let ends = context.deadline.at() - context.remaining() / 6;
    ToolContext { deadline: context.deadline.no_later_than(ends), ..context.clone() }
}

/// What a reader should know of the entries that are not there.
pub fn warn_lost(publisher: &str, left_out: usize) -> Option<String> {
    match left_out {
        0 => None,
        1 => Some(format!("1 entry in the feed of {publisher} cannot be read and is left out")),
        many => Some(format!("{many} entries in the feed of {publisher} cannot be read and are left out")),
    }
}

/// Of several failures the one after which asking again may help.
fn most_hopeful(failures: Vec<Failure>) -> Failure {
    let is_lasting = |failure: &Failure| !ToolError::from(failure.clone()).retryable;
    failures.into_iter().min_by_key(is_lasting).expect("there is one")
}

fn address(base: &Url, path: &str) -> Result<Url, Failure> {
    base.join(path).map_err(|error| Failure::malformed(error.to_string()))
}

#[cfg(test)]
mod tests;
