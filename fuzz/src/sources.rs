//! What sources answer, as their connectors read it: the first line names a document, the rest is its bytes.
//!
//! A site within the process answers as the sources do, but for that one document. Every reader ends with data or with
//! a failure, and neither holds what a reader would not see.

mod files;
mod site;

use std::{fmt::Debug, sync::LazyLock, time::Duration};

use chrono::{DateTime, Days};
use http::HeaderValue;
use tokio::runtime::Builder;
use toolwire::{
    base::clock,
    domains::research::sources::{
        news::{self, Category, News},
        nse::{self, Nse},
        reddit::{self, Reddit, Sort},
        screener,
        valuepickr::{self, Order, Topic, ValuePickr},
        yahoo::{self, Span, Yahoo},
    },
    sources::upstream::{
        now::Now,
        text::{Identifier, Line},
    },
    tool::context::{ToolContext, User},
};

use self::site::Site;

/// A Friday, at the close of the market.
const NOW: &str = "2026-01-16T10:00:00Z";

/// The documents that come over HTTP, each with what tells its address from all others.
const DOCUMENTS: [(&str, &str); 19] = [
    ("news/economic_times", "/economictimes/"),
    ("news/google", "/googlenews/"),
    ("news/moneycontrol", "/moneycontrol/"),
    ("nse/deals", "bulk-block-short-deals"),
    ("nse/deals_csv", "csv=true"),
    ("nse/filings", "share-holdings-master"),
    ("nse/flows", "fiidiiTradeReact"),
    ("nse/results", "results-comparision"),
    ("nse/xbrl", "/archives/"),
    ("reddit/posts", "/reddit/"),
    ("reddit/token", "/reddit-token/"),
    ("valuepickr/latest", "latest.json"),
    ("valuepickr/posts", "posts.json"),
    ("valuepickr/search", "search.json"),
    ("valuepickr/topic", "7.json"),
    ("yahoo/chart", "/chart/"),
    ("yahoo/crumb", "getcrumb"),
    ("yahoo/summary", "/quoteSummary/"),
    ("yahoo/timeseries", "/timeseries/"),
];

/// The others: pages and files, which are read as they are.
const FILES: [(&str, ReadFile); 5] = [
    ("brokerage/fact", files::fact),
    ("brokerage/legacy", files::legacy),
    ("brokerage/master", files::master),
    ("research/universe", files::universe),
    ("screener/page", screener::read_page),
];

type ReadFile = fn(&str) -> String;

/// Who reads a document.
enum Reader {
    Connector { document: &'static str, address: &'static str },
    File(ReadFile),
}

static READERS: LazyLock<Vec<(String, Reader)>> = LazyLock::new(|| {
    let documents = DOCUMENTS.map(|(document, address)| (document, Reader::Connector { document, address }));
    let files = FILES.map(|(document, read)| (document, Reader::File(read)));
    documents.into_iter().chain(files).map(|(document, reader)| (document.to_owned(), reader)).collect()
});

/// Lets a reader read a document.
pub fn run(input: &[u8]) {
    let (reader, body) = super::choice(input, &READERS);
    let read = match reader {
        Reader::File(read) => read(&String::from_utf8_lossy(body)),
        Reader::Connector { document, address } => {
            let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(ask(document, &Site::of(address, body)))
        }
    };
    // As debuggers write them.
    for hidden in ["\\u{200b}", "\\u{202e}", "\\u{feff}", "\\u{e0041}"] {
        assert!(!read.contains(hidden), "{hidden} in {read}");
    }
}

/// All that is read of a document, as debuggers show it.
async fn ask(document: &str, site: &Site) -> String {
    let user = User::new("demo".parse().expect("a name"));
    let context = &ToolContext::new(user, clock::now() + Duration::from_mins(1));
    let (source, part) = document.split_once('/').expect("every document has both");
    match source {
        "news" => news(part, site, context).await,
        "nse" => nse(part, site, context).await,
        "reddit" => reddit(site, context).await,
        "valuepickr" => valuepickr(part, site, context).await,
        _ => yahoo(part, site, context).await,
    }
}

async fn news(part: &str, site: &Site, context: &ToolContext) -> String {
    let settings = news::Settings {
        moneycontrol_url: Site::url("moneycontrol"),
        economic_times_url: Site::url("economictimes"),
        google_url: Site::url("googlenews"),
        now: now(),
    };
    let news = News::new(site.client(news::PROFILE), settings);
    match part {
        "google" => shown(news.about("TCS", 7, context).await),
        _ => shown(news.headlines(Category::Markets, context).await),
    }
}

async fn nse(part: &str, site: &Site, context: &ToolContext) -> String {
    let (base, archives) = (Site::url("nse"), Site::url("archives"));
    let settings = nse::Settings { base, archives, now: now(), first_deal: None };
    let nse = Nse::new(site.client(nse::PROFILE), settings);
    match part {
        "flows" => shown(nse.flows(context).await),
        "results" => shown(nse.results("TCS", context).await),
        "deals" | "deals_csv" => shown(nse.deals("TCS", nse.today() - Days::new(30), context).await),
        _ => match nse.filings("TCS", context).await {
            Ok(filings) => shown(nse.holding(&filings[0], context).await) + &shown(filings),
            failed => shown(failed),
        },
    }
}

async fn reddit(site: &Site, context: &ToolContext) -> String {
    let settings = reddit::Settings {
        api_url: Site::url("reddit"),
        token_url: Site::url("reddit-token"),
        public_url: Site::url("reddit"),
        user_agent: HeaderValue::from_static("fuzz"),
        credentials: Some(reddit::Credentials::embedded()),
        now: now(),
    };
    let reddit = Reddit::new(site.client(reddit::PROFILE), settings);
    shown(reddit.posts("IndiaInvestments", Sort::Hot, 10, context).await)
}

async fn valuepickr(part: &str, site: &Site, context: &ToolContext) -> String {
    let (base_url, public_url) = (Site::url("forum"), Site::url("forum"));
    let settings = valuepickr::Settings { base_url, public_url, now: now() };
    let forum = ValuePickr::new(site.client(valuepickr::PROFILE), settings);
    let topic = Topic {
        id: 7,
        title: Line::of("TCS"),
        slug: Identifier::of("tcs"),
        posts_count: 2,
        last_activity: DateTime::UNIX_EPOCH,
    };
    match part {
        "latest" => shown(forum.latest(context).await),
        "search" => shown(forum.search("TCS", Order::Latest, context).await),
        _ => shown(forum.discussion(&topic, context).await),
    }
}

async fn yahoo(part: &str, site: &Site, context: &ToolContext) -> String {
    let (base, cookie_base) = (Site::url("yahoo"), Site::url("yahoo-cookie"));
    let yahoo = Yahoo::new(site.client(yahoo::PROFILE), yahoo::Settings { base, cookie_base, now: now() });
    match part {
        "chart" => shown(yahoo.chart("TCS", Span::TwoYears, context).await),
        "timeseries" => shown(yahoo.timeseries("TCS", yahoo.today() - Days::new(400), context).await),
        _ => shown(yahoo.summary("TCS", context).await),
    }
}

fn now() -> Now {
    Now::Recorded(DateTime::parse_from_rfc3339(NOW).expect("a time").into())
}

#[allow(clippy::needless_pass_by_value, reason = "the form that its callers take")]
fn shown(read: impl Debug) -> String {
    format!("{read:?}")
}
