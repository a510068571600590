//! The sources of the research tools: the addresses and the budget of each.
//!
//! Titles stand in the guidance of models: `## Screener Tool Usage`.

use std::time::Duration;

use super::{news, nse, reddit, screener, valuepickr, yahoo};
use toolwire_sources::upstream::{
    limiter::Budget,
    source::{Address, SourceSpec},
};

const MINUTE: Duration = Duration::from_mins(1);

/// Every source, in the order of their settings.
pub const ALL: [SourceSpec; 6] = [YAHOO, VALUEPICKR, REDDIT, NEWS, SCREENER, NSE];

/// Yahoo Finance: the host of charts and figures, and the host that gives the cookie.
pub const YAHOO: SourceSpec = SourceSpec {
    name: yahoo::PROFILE.name,
    title: "Yahoo Finance",
    addresses: &[
        Address::new("base_url", "https://query1.finance.yahoo.com/"),
        Address::new("cookie_url", "https://fc.yahoo.com/"),
    ],
    budget: Budget { max_requests: 60, window: MINUTE, min_delay: Duration::from_secs(1) },
    timeout: yahoo::PROFILE.timeout,
    names_itself: false,
    takes_users_credentials: false,
};

/// `ValuePickr`: the forum.
pub const VALUEPICKR: SourceSpec = SourceSpec {
    name: valuepickr::PROFILE.name,
    title: "ValuePickr",
    addresses: &[Address::new("base_url", "https://forum.valuepickr.com/")],
    budget: Budget { max_requests: 12, window: MINUTE, min_delay: Duration::from_secs(5) },
    timeout: valuepickr::PROFILE.timeout,
    names_itself: false,
    takes_users_credentials: false,
};

/// Reddit: the host of the API, and the host that gives tokens.
pub const REDDIT: SourceSpec = SourceSpec {
    name: reddit::PROFILE.name,
    title: "Reddit",
    addresses: &[
        Address::new("base_url", "https://oauth.reddit.com/"),
        Address::new("token_url", "https://www.reddit.com/"),
    ],
    budget: Budget { max_requests: 30, window: MINUTE, min_delay: Duration::from_secs(2) },
    timeout: reddit::PROFILE.timeout,
    // `<platform>:<app>:<version> (by /u/<name>)`, as Reddit asks for.
    names_itself: true,
    takes_users_credentials: false,
};

/// The news: `MoneyControl`, Economic Times and Google News together.
pub const NEWS: SourceSpec = SourceSpec {
    name: news::PROFILE.name,
    title: "News",
    addresses: &[
        Address::new("moneycontrol_url", "https://www.moneycontrol.com/"),
        Address::new("economic_times_url", "https://economictimes.indiatimes.com/"),
        Address::new("google_url", "https://news.google.com/"),
    ],
    budget: Budget { max_requests: 12, window: MINUTE, min_delay: Duration::from_secs(5) },
    timeout: news::PROFILE.timeout,
    names_itself: false,
    takes_users_credentials: false,
};

pub const SCREENER: SourceSpec = SourceSpec {
    name: screener::PROFILE.name,
    title: "Screener",
    addresses: &[Address::new("base_url", "https://www.screener.in/")],
    budget: Budget { max_requests: 6, window: MINUTE, min_delay: Duration::from_secs(10) },
    timeout: screener::PROFILE.timeout,
    // One of several browsers for each session.
    names_itself: true,
    takes_users_credentials: true,
};

/// NSE: the site, and the archives that hold filings.
pub const NSE: SourceSpec = SourceSpec {
    name: nse::PROFILE.name,
    title: "NSE",
    addresses: &[
        Address::new("base_url", "https://www.nseindia.com/"),
        Address::new("archives_url", "https://nsearchives.nseindia.com/"),
    ],
    budget: Budget { max_requests: 3, window: Duration::from_secs(1), min_delay: Duration::from_millis(350) },
    timeout: nse::PROFILE.timeout,
    names_itself: false,
    takes_users_credentials: false,
};
