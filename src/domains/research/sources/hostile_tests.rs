//! Every connector against everything that a site may do: one table, of connectors and what the site does to them.
//!
//! The site answers in each source's own shapes, but for the one document that is attacked. Not here: what only one
//! source does, which its own tests know.

mod attack;
mod good;
mod site;

use std::time::Duration;

use futures_util::future::join_all;
use http::HeaderValue;
use url::Url;

use self::{attack::Attack, site::Site};
use super::{
    news::{self, Category, News},
    nse::{self, Nse},
    reddit::{self, Reddit, Sort},
    screener::{self, Refresh, testing},
    valuepickr::{self, Order, ValuePickr},
    yahoo::{self, Span, Yahoo},
};
use crate::{
    context::ToolContext,
    contract::{ErrorCode, ToolError},
    upstream::{
        http::{Client, Failure, Profile},
        now::Now,
        testing::{client_remembering, context},
    },
};

/// What is asked of a connector, and which document of it is attacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    YahooChart,
    YahooSummary,
    YahooSeries,
    NseFlows,
    NseDeals,
    NseFilings,
    NseHolding,
    NseResults,
    GoogleNews,
    ForumLatest,
    ForumSearch,
    ForumTopic,
    RedditToken,
    RedditPosts,
    RedditSearch,
    ScreenerForm,
    ScreenerPage,
}

impl Asked {
    const ALL: [Self; 17] = [
        Self::YahooChart,
        Self::YahooSummary,
        Self::YahooSeries,
        Self::NseFlows,
        Self::NseDeals,
        Self::NseFilings,
        Self::NseHolding,
        Self::NseResults,
        Self::GoogleNews,
        Self::ForumLatest,
        Self::ForumSearch,
        Self::ForumTopic,
        Self::RedditToken,
        Self::RedditPosts,
        Self::RedditSearch,
        Self::ScreenerForm,
        Self::ScreenerPage,
    ];

    /// The document that is attacked: the beginning of its path.
    const fn target(self) -> &'static str {
        match self {
            Self::YahooChart => "/yahoo/v8/finance/chart/",
            Self::YahooSummary => "/yahoo/v10/finance/quoteSummary/",
            Self::YahooSeries => "/yahoo/ws/",
            Self::NseFlows => "/nse/api/fiidiiTradeReact",
            Self::NseDeals => "/nse/api/historicalOR/",
            Self::NseFilings => "/nse/api/corporate-share-holdings-master",
            Self::NseHolding => "/archives/",
            Self::NseResults => "/nse/api/results-comparision",
            Self::GoogleNews => "/googlenews/",
            Self::ForumLatest => "/forum/latest.json",
            Self::ForumSearch => "/forum/search.json",
            Self::ForumTopic => "/forum/t/",
            Self::RedditToken => "/reddit-token/",
            Self::RedditPosts => "/reddit/r/IndiaInvestments/hot",
            Self::RedditSearch => "/reddit/r/IndiaInvestments/search",
            Self::ScreenerForm => "/screener/login/",
            Self::ScreenerPage => "/screener/screens/",
        }
    }

    /// Whether the document may be in an encoding that its header names: JSON is UTF-8.
    const fn may_be_encoded(self) -> bool {
        matches!(self, Self::NseHolding | Self::GoogleNews | Self::ScreenerForm | Self::ScreenerPage)
    }

    /// Whether the document is a page: HTML is no refusal there by itself.
    const fn is_page(self) -> bool {
        matches!(self, Self::ScreenerForm | Self::ScreenerPage)
    }
}

/// The connectors of all sources at a site.
struct Connectors {
    yahoo: Yahoo,
    nse: Nse,
    news: News,
    forum: ValuePickr,
    reddit: Reddit,
    screener: screener::Screener,
}

impl Connectors {
    fn at(site: &Site, timeout: Duration) -> Self {
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

    async fn ask(&self, what: Asked) -> Result<(), ToolError> {
        let context = &context();
        let failed = |failure: Failure| ToolError::from(failure);
        match what {
            Asked::YahooChart => {
                self.yahoo.chart("TCS", Span::TwoYears, context).await.map(drop).map_err(failed)
            }
            Asked::YahooSummary => self.yahoo.summary("TCS", context).await.map(drop).map_err(failed),
            Asked::YahooSeries => {
                let since = self.yahoo.today() - chrono::Days::new(400);
                self.yahoo.timeseries("TCS", since, context).await.map(drop).map_err(failed)
            }
            Asked::NseFlows => self.nse.flows(context).await.map(drop).map_err(failed),
            Asked::NseDeals => {
                let since = self.nse.today() - chrono::Days::new(30);
                self.nse.deals("TCS", since, context).await.map(drop).map_err(failed)
            }
            Asked::NseFilings => self.nse.filings("TCS", context).await.map(drop).map_err(failed),
            Asked::NseHolding => self.holding(context).await.map_err(failed),
            Asked::NseResults => self.nse.results("TCS", context).await.map(drop).map_err(failed),
            Asked::GoogleNews => self.news.about("TCS", 7, context).await.map(drop).map_err(failed),
            Asked::ForumLatest => self.forum.latest(context).await.map(drop).map_err(failed),
            Asked::ForumSearch => {
                self.forum.search("TCS", Order::Latest, context).await.map(drop).map_err(failed)
            }
            Asked::ForumTopic => {
                self.forum.discussion(&good::topic(), context).await.map(drop).map_err(failed)
            }
            Asked::RedditToken | Asked::RedditPosts => {
                let posts = self.reddit.posts("IndiaInvestments", Sort::Hot, 10, context).await;
                posts.map(drop).map_err(failed)
            }
            Asked::RedditSearch => {
                self.reddit.search("IndiaInvestments", "TCS", context).await.map(drop).map_err(failed)
            }
            Asked::ScreenerForm | Asked::ScreenerPage => {
                self.screener.browse("default", Refresh::IfStale, context).await.map(drop)
            }
        }
    }

    async fn holding(&self, context: &ToolContext) -> Result<(), Failure> {
        let filings = self.nse.filings("TCS", context).await?;
        self.nse.holding(&filings[0], context).await.map(drop)
    }
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

/// What should come of it: data, or a failure of a code, and whether the site is then left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Data,
    Failure(ErrorCode),
    LeftAlone(ErrorCode),
}

/// The table: what each attack comes to, and where that differs.
fn expected(attack: Attack, asked: Asked) -> Outcome {
    use ErrorCode::{AuthFailed, Blocked, ParseError, RateLimited, Timeout, Unavailable};
    match attack {
        // What is sent with a form is for whom it was filled in.
        Attack::RedirectWithin if asked == Asked::RedditToken => Outcome::Failure(ParseError),
        Attack::Wide if !asked.may_be_encoded() => Outcome::Failure(ParseError),
        Attack::None | Attack::RedirectWithin | Attack::Bom | Attack::Latin | Attack::Wide => Outcome::Data,
        // A page in place of a page: one without its form, or one for nobody in particular.
        Attack::Html if asked == Asked::ScreenerForm => Outcome::Failure(ParseError),
        Attack::Html if asked == Asked::ScreenerPage => Outcome::LeftAlone(AuthFailed),
        Attack::Html | Attack::Forbidden | Attack::Refused => Outcome::LeftAlone(Blocked),
        Attack::TooMany(_) => Outcome::LeftAlone(RateLimited),
        Attack::Busy(_) => Outcome::LeftAlone(Unavailable),
        Attack::Truncated
        | Attack::Empty
        | Attack::RedirectElsewhere
        | Attack::RedirectRound
        | Attack::Bomb
        | Attack::TooLong
        | Attack::NoGzip => Outcome::Failure(ParseError),
        Attack::BrokenOff => Outcome::Failure(Unavailable),
        Attack::Drip => Outcome::Failure(Timeout),
    }
}

#[tokio::test]
async fn whatever_a_site_does_each_connector_takes_it_for_what_it_is() {
    let rows = Attack::ALL.into_iter().flat_map(|attack| Asked::ALL.map(|asked| (attack, asked)));
    // JSON in another encoding is wrong only where a letter that is not ASCII is read.
    let rows: Vec<_> =
        rows.filter(|(attack, asked)| *attack != Attack::Latin || asked.may_be_encoded()).collect();
    for some in rows.chunks(34) {
        join_all(some.iter().map(|(attack, asked)| row(*attack, *asked))).await;
    }
}

async fn row(attack: Attack, asked: Asked) {
    let what = format!("{attack:?} {asked:?}");
    let elsewhere = Site::start(Attack::None, "", None).await;
    let site = Site::start(attack, asked.target(), Some(elsewhere.base.clone())).await;
    // What drips is cut by the time-out; everything else is given the time that a busy machine may take.
    let timeout = Duration::from_secs(if attack == Attack::Drip { 3 } else { 30 });
    let connectors = Connectors::at(&site, timeout);
    let end = connectors.ask(asked).await;
    let code = end.as_ref().err().map(|error| error.code);
    let outcome = expected(attack, asked);
    match outcome {
        Outcome::Data => assert_eq!(code, None, "{what}: {end:?}"),
        Outcome::Failure(expected) | Outcome::LeftAlone(expected) => {
            assert_eq!(code, Some(expected), "{what}: {end:?}");
        }
    }
    if let Some(pause) = attack.pause() {
        let wait = end.as_ref().err().and_then(|error| error.retry_after).unwrap_or_default();
        let longest = pause + Duration::from_secs(1);
        assert!(wait <= longest && wait + Duration::from_mins(1) > pause, "{what}: {end:?}");
    }
    if let Err(error) = &end {
        assert!(
            asked.is_page() || asked.target().starts_with("/reddit") || !error.message.contains("redential")
        );
    }
    if matches!(outcome, Outcome::LeftAlone(_)) {
        let before = site.requests();
        assert!(connectors.ask(asked).await.is_err(), "{what}");
        assert_eq!(site.requests(), before, "{what}: it is left alone");
    }
    assert_eq!(elsewhere.requests(), 0, "{what}");
}

#[tokio::test]
async fn headlines_come_from_the_other_publisher_whatever_one_of_them_does() {
    let rows =
        Attack::ALL.into_iter().flat_map(|attack| [(attack, "/moneycontrol/"), (attack, "/economictimes/")]);
    join_all(rows.map(async |(attack, target)| {
        let elsewhere = Site::start(Attack::None, "", None).await;
        let site = Site::start(attack, target, Some(elsewhere.base.clone())).await;
        let timeout = Duration::from_secs(if attack == Attack::Drip { 3 } else { 30 });
        let news = Connectors::at(&site, timeout).news;
        let headlines = news.headlines(Category::Markets, &context()).await.expect("the other one's");
        let is_lost = !matches!(
            attack,
            Attack::None | Attack::RedirectWithin | Attack::Bom | Attack::Latin | Attack::Wide
        );
        assert!(!headlines.articles.is_empty(), "{attack:?}");
        assert_eq!(!headlines.warnings.is_empty(), is_lost, "{attack:?}: {:?}", headlines.warnings);
        assert_eq!(elsewhere.requests(), 0);
    }))
    .await;
}

#[tokio::test]
async fn every_source_is_asked_under_the_configured_name_but_for_those_that_need_their_own() {
    let site = Site::start(Attack::None, "", None).await;
    let connectors = Connectors::at(&site, Duration::from_secs(30));
    for asked in Asked::ALL {
        connectors.ask(asked).await.unwrap_or_else(|error| panic!("{asked:?}: {error:?}"));
    }
    connectors.news.headlines(Category::Markets, &context()).await.expect("headlines");
    let names = site.user_agents();
    assert!(names.len() >= 20, "{names:?}");
    for (path, name) in names {
        let own = match path.split('/').nth(1) {
            Some("reddit" | "reddit-token") => name == good::REDDIT_USER_AGENT,
            Some("screener") => name.starts_with("Mozilla/5.0 ("),
            _ => name == crate::upstream::testing::USER_AGENT,
        };
        assert!(own, "{path}: {name}");
    }
}
