//! Builds each connector from the addresses of its source and the identity that it presents.

use std::sync::Arc;

use chrono::NaiveDate;
use http::HeaderValue;
use url::Url;

use crate::{
    settings::{self, Settings},
    sources::{
        embedded,
        news::{self, News},
        nse::{self, Nse},
        reddit::{self, Reddit},
        screener::{self, Screener},
        specs::{NEWS, NSE, REDDIT, SCREENER, VALUEPICKR, YAHOO},
        symbols::Symbols,
        universe::Universe,
        valuepickr::{self, ValuePickr},
        watchlist::UserWatchlists,
        yahoo::{self, Yahoo},
    },
    store::tables::Tables,
};
use toolwire_sources::upstream::{now::Now, source::SourceSpec, sources::Sources};

/// Where people read the forum, whichever origin answers.
const VALUEPICKR_PUBLIC: &str = "https://forum.valuepickr.com/";
/// Where people read Reddit.
const REDDIT_PUBLIC: &str = "https://www.reddit.com/";

/// What every connector is made from.
pub(super) struct Parts<'a> {
    pub(super) upstream: &'a Sources,
    pub(super) settings: &'a Settings,
    pub(super) universe: Arc<Universe>,
    pub(super) tables: Arc<Tables>,
    /// The first day of the embedded deals, where they are embedded.
    pub(super) first_deal: Option<NaiveDate>,
}

impl Parts<'_> {
    pub(super) fn yahoo(&self) -> Yahoo {
        let settings = yahoo::Settings {
            base: self.base(&YAHOO, "yahoo", "base_url"),
            cookie_base: self.base(&YAHOO, "yahoo-cookie", "cookie_url"),
            now: self.now(&YAHOO),
        };
        Yahoo::new(self.upstream.client(&YAHOO, yahoo::PROFILE), settings)
    }

    pub(super) fn nse(&self) -> Nse {
        let settings = nse::Settings {
            base: self.base(&NSE, "nse", "base_url"),
            archives: self.base(&NSE, "nse", "archives_url"),
            now: self.now(&NSE),
            first_deal: self.first_deal,
        };
        Nse::new(self.upstream.client(&NSE, nse::PROFILE), settings)
    }

    pub(super) fn valuepickr(&self) -> ValuePickr {
        let settings = valuepickr::Settings {
            base_url: self.base(&VALUEPICKR, "valuepickr", "base_url"),
            public_url: public(VALUEPICKR_PUBLIC),
            now: self.now(&VALUEPICKR),
        };
        ValuePickr::new(self.upstream.client(&VALUEPICKR, valuepickr::PROFILE), settings)
    }

    pub(super) fn reddit(&self) -> Reddit {
        let configured = self.settings.credentials.reddit.as_ref();
        let name = configured.map_or("toolwire", |credentials| credentials.user_name.as_str());
        let settings = reddit::Settings {
            api_url: self.base(&REDDIT, "reddit", "base_url"),
            token_url: self.base(&REDDIT, "reddit-token", "token_url"),
            public_url: public(REDDIT_PUBLIC),
            user_agent: reddit_user_agent(name),
            credentials: if self.upstream.is_embedded(&REDDIT) {
                Some(reddit::Credentials::embedded())
            } else {
                configured.map(|it| reddit::Credentials {
                    client_id: it.client_id.clone(),
                    client_secret: it.client_secret.clone(),
                })
            },
            now: self.now(&REDDIT),
        };
        Reddit::new(self.upstream.client(&REDDIT, reddit::PROFILE), settings)
    }

    pub(super) fn news(&self) -> News {
        let settings = news::Settings {
            moneycontrol_url: self.base(&NEWS, "moneycontrol", "moneycontrol_url"),
            economic_times_url: self.base(&NEWS, "economictimes", "economic_times_url"),
            google_url: self.base(&NEWS, "googlenews", "google_url"),
            now: self.now(&NEWS),
        };
        News::new(self.upstream.client(&NEWS, news::PROFILE), settings)
    }

    pub(super) fn screener(&self, credentials: Arc<screener::Credentials>) -> Screener {
        let base = self.base(&SCREENER, "screener", "base_url");
        let settings = match self.now(&SCREENER) {
            Now::Wall => screener::Settings::live(base, self.settings.screens.iter().map(screen).collect()),
            now @ Now::Recorded(_) => screener::Settings::embedded(base, now),
        };
        let stores = screener::Stores {
            screens: Arc::clone(&self.tables) as _,
            cool_downs: self.upstream.cool_downs(),
        };
        let client = self.upstream.client(&SCREENER, screener::PROFILE);
        Screener::new(client, stores, credentials, settings)
    }

    pub(super) fn watchlists(&self) -> UserWatchlists {
        UserWatchlists { lists: Arc::clone(&self.tables), prices: self.now(&SCREENER) }
    }

    pub(super) fn symbols(&self) -> Symbols {
        let universe = Arc::clone(&self.universe);
        if self.upstream.is_embedded(&YAHOO) { Symbols::Known(universe) } else { Symbols::Open(universe) }
    }

    /// Where a source is: at its embedded twin, or at the configured address.
    fn base(&self, source: &SourceSpec, twin: &str, key: &str) -> Url {
        let live = || self.upstream.address(source, key);
        if self.upstream.is_embedded(source) { embedded::base(twin) } else { live() }
    }

    fn now(&self, source: &SourceSpec) -> Now {
        self.upstream.now(source, self.universe.recorded_at())
    }
}

fn screen(configured: &settings::Screen) -> screener::Screen {
    screener::Screen {
        user: Some(configured.user_id.clone()),
        screen_id: configured.screen_id.clone(),
        name: None,
        path: configured.path.clone(),
    }
}

/// `<platform>:<app>:<version> (by /u/<name>)`, as Reddit asks for.
fn reddit_user_agent(name: &str) -> HeaderValue {
    let text = format!("server:toolwire:{} (by /u/{name})", env!("CARGO_PKG_VERSION"));
    HeaderValue::from_str(&text).expect("the name was checked when it was read")
}

fn public(address: &str) -> Url {
    Url::parse(address).expect("a constant address")
}
