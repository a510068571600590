//! The connectors of all sources at one site, and how each is asked.

use std::{fmt::Debug, time::Duration};

use http::HeaderValue;
use url::Url;

use super::{good, site::Site, target::Target};
use crate::sources::{
    news::{self, News},
    nse::{self, Nse},
    reddit::{self, Reddit, Sort},
    screener::{self, Refresh, testing},
    valuepickr::{self, Order, ValuePickr},
    yahoo::{self, Span, Yahoo},
};
use toolwire_contract::ToolError;
use toolwire_sources::upstream::{
    http::{Client, Failure, Profile},
    now::Now,
    testing::{client_remembering, context},
};
use toolwire_tool::context::ToolContext;

/// The connectors of all sources at a site.
pub(super) struct Connectors {
    yahoo: Yahoo,
    nse: Nse,
    pub(super) news: News,
    forum: ValuePickr,
    reddit: Reddit,
    screener: screener::Screener,
}

impl Connectors {
    pub(super) fn at(site: &Site, timeout: Duration) -> Self {
        let client = |profile: Profile| {
            client_remembering(Profile { timeout: timeout.min(profile.timeout), may_retry: false, ..profile })
        };
        let url = |prefix: &str| site.base.join(&format!("{prefix}/")).expect("a path");
        let now = Now::Recorded(good::now());
        Self {
            yahoo: yahoo(client(yahoo::PROFILE), url, now),
            nse: Nse::new(
                client(nse::PROFILE),
                nse::Settings { base: url("nse"), archives: url("archives"), now, first_deal: None },
            ),
            news: news(client(news::PROFILE), url, now),
            forum: ValuePickr::new(
                client(valuepickr::PROFILE),
                valuepickr::Settings { base_url: url("forum"), public_url: url("forum"), now },
            ),
            reddit: reddit(client(reddit::PROFILE), url, now),
            screener: testing::connector(client(screener::PROFILE), url("screener")),
        }
    }

    /// What is read of the answer, as debuggers show it: all fields of all records.
    pub(super) async fn ask(&self, what: Target) -> Result<String, ToolError> {
        let context = &context();
        let failed = |failure: Failure| ToolError::from(failure);
        match what {
            Target::YahooChart => {
                self.yahoo.chart("TCS", Span::TwoYears, context).await.map(shown).map_err(failed)
            }
            Target::YahooSummary => self.yahoo.summary("TCS", context).await.map(shown).map_err(failed),
            Target::YahooSeries => {
                let since = self.yahoo.today() - chrono::Days::new(400);
                self.yahoo.timeseries("TCS", since, context).await.map(shown).map_err(failed)
            }
            Target::NseFlows => self.nse.flows(context).await.map(shown).map_err(failed),
            Target::NseDeals => {
                let since = self.nse.today() - chrono::Days::new(30);
                self.nse.deals("TCS", since, context).await.map(shown).map_err(failed)
            }
            Target::NseFilings => self.nse.filings("TCS", context).await.map(shown).map_err(failed),
            Target::NseHolding => self.holding(context).await.map_err(failed),
            Target::NseResults => self.nse.results("TCS", context).await.map(shown).map_err(failed),
            Target::GoogleNews => self.news.about("TCS", 7, context).await.map(shown).map_err(failed),
            Target::ForumLatest => self.forum.latest(context).await.map(shown).map_err(failed),
            Target::ForumSearch => {
                self.forum.search("TCS", Order::Latest, context).await.map(shown).map_err(failed)
            }
            Target::ForumTopic => {
                self.forum.discussion(&good::topic(), context).await.map(shown).map_err(failed)
            }
            Target::RedditToken | Target::RedditPosts => {
                let posts = self.reddit.posts("IndiaInvestments", Sort::Hot, 10, context).await;
                posts.map(shown).map_err(failed)
            }
            Target::RedditSearch => {
                self.reddit.search("IndiaInvestments", "TCS", context).await.map(shown).map_err(failed)
            }
            Target::ScreenerForm | Target::ScreenerPage => {
                self.screener.browse("default", Refresh::IfStale, context).await.map(shown)
            }
        }
    }

    async fn holding(&self, context: &ToolContext) -> Result<String, Failure> {
        let filings = self.nse.filings("TCS", context).await?;
        self.nse.holding(&filings[0], context).await.map(shown)
    }
}

#[allow(clippy::needless_pass_by_value, reason = "the form that map takes")]
fn shown(data: impl Debug) -> String {
    format!("{data:?}")
}

fn yahoo(client: Client, url: impl Fn(&str) -> Url, now: Now) -> Yahoo {
    let settings = yahoo::Settings { base: url("yahoo"), cookie_base: url("yahoo-cookie"), now };
    Yahoo::new(client, settings)
}

fn news(client: Client, url: impl Fn(&str) -> Url, now: Now) -> News {
    let settings = news::Settings {
        moneycontrol_url: url("moneycontrol"),
        economic_times_url: url("economictimes"),
        google_url: url("googlenews"),
        now,
    };
    News::new(client, settings)
}

fn reddit(client: Client, url: impl Fn(&str) -> Url, now: Now) -> Reddit {
    let settings = reddit::Settings {
        api_url: url("reddit"),
        token_url: url("reddit-token"),
        public_url: url("reddit"),
        user_agent: HeaderValue::from_static(good::REDDIT_USER_AGENT),
        credentials: Some(reddit::Credentials::embedded()),
        now,
    };
    Reddit::new(client, settings)
}
