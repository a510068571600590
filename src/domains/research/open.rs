//! The research sources, wired: where each is, how much may be asked of it, and what its connector remembers.
//!
//! An embedded source and a live one differ in their address, their clock and their spacing, and in nothing else.

use std::{io, sync::Arc};

use http::HeaderValue;
use url::Url;

use crate::{
    config::{self, Mode, Upstream, Upstreams},
    context::Services,
    domain::{self, Opened, Opening},
    domains::research::{
        service,
        sources::{
            embedded,
            news::{self, News},
            nse::{self, Nse},
            reddit::{self, Reddit},
            screener::{self, Screener},
            symbols::Symbols,
            universe::{BadUniverse, Universe},
            valuepickr::{self, ValuePickr},
            watchlist::UserWatchlists,
            yahoo::{self, Yahoo},
        },
        tools::Profiles,
    },
    files::{ReadError, Tree},
    registry::{DataSource, SourceHealth},
    store::{RememberedCoolDowns, Sqlite},
    upstream::{
        http::{Client, Profile, Sender, TlsError},
        limiter::MemoryLimiter,
        limits::Limits,
        now::Now,
    },
};

const UNIVERSE: &str = "research/universe.json";
/// Where people read the forum, whichever origin answers.
const VALUEPICKR_PUBLIC: &str = "https://forum.valuepickr.com/";
/// Where people read Reddit.
const REDDIT_PUBLIC: &str = "https://www.reddit.com/";

/// What an embedded or live source's data is: it stands still while it serves.
#[derive(Debug)]
struct Recorded {
    name: &'static str,
    digest: String,
}

impl DataSource for Recorded {
    fn name(&self) -> &str {
        self.name
    }

    fn refresh(&self) -> SourceHealth {
        SourceHealth { digest: self.digest.clone(), ..SourceHealth::default() }
    }
}

/// The research sources cannot be set up.
#[derive(Debug, thiserror::Error)]
enum OpenError {
    /// The data of the embedded sources cannot be read.
    #[error("the embedded sources cannot answer: {0}")]
    Embedded(#[from] io::Error),
    /// The list of stocks cannot be read.
    #[error(transparent)]
    Unreadable(#[from] ReadError),
    /// The list of stocks is wrong.
    #[error(transparent)]
    Universe(#[from] BadUniverse),
    /// Connections cannot be set up.
    #[error(transparent)]
    Tls(#[from] TlsError),
}

/// What every connector is made from.
struct Parts<'a> {
    upstreams: &'a Upstreams,
    profiles: &'a config::Profiles,
    universe: Arc<Universe>,
    sender: Sender,
    limiter: Arc<MemoryLimiter>,
    screened: Arc<Sqlite>,
    cool_downs: Arc<RememberedCoolDowns>,
}

/// Sets the sources up.
pub(super) fn open(opening: &Opening<'_>) -> Result<Opened, domain::OpenError> {
    Ok(set_up(opening)?)
}

fn set_up(opening: &Opening<'_>) -> Result<Opened, OpenError> {
    let Opening { config, tree, state } = opening;
    let upstreams = &config.upstreams;
    let is_any_embedded = Upstream::ALL.into_iter().any(|source| upstreams.is_embedded(source));
    let live = Upstream::ALL.into_iter().filter(|source| !upstreams.is_embedded(*source)).map(Upstream::name);
    // What was screened from invented data is never shown as real.
    let screened = if upstreams.is_embedded(Upstream::Screener) {
        Arc::new(state.embedded())
    } else {
        Arc::clone(state)
    };
    let user_agent = HeaderValue::from_str(&upstreams.user_agent).expect("checked when it was read");
    let mut sender = Sender::new()?.with_user_agent(user_agent);
    if is_any_embedded {
        sender = embedded::attach(sender, (*tree).clone())?;
    }
    let policies = Upstream::ALL.map(|source| (source.name(), upstreams.policy(source)));
    let parts = Parts {
        upstreams,
        profiles: &config.profiles,
        universe: Arc::new(universe(tree)?),
        sender,
        limiter: Arc::new(MemoryLimiter::new(policies)),
        screened,
        cool_downs: Arc::new(RememberedCoolDowns::new(Arc::clone(state) as _, live)),
    };
    Ok(parts.wire(tree))
}

impl Parts<'_> {
    fn wire(self, tree: &Tree) -> Opened {
        let credentials = Arc::new(screener::Credentials::default());
        let watchlists = UserWatchlists(Arc::clone(&self.screened) as _);
        let services = Services::default()
            .with(Arc::new(self.yahoo()))
            .with(Arc::new(self.nse()))
            .with(Arc::new(self.valuepickr()))
            .with(Arc::new(self.reddit()))
            .with(Arc::new(self.news()))
            .with(Arc::new(self.screener(Arc::clone(&credentials))))
            .with(Arc::new(self.symbols()))
            .with(Arc::clone(&self.universe))
            .with(Arc::new(Profiles::from(self.profiles)))
            .with(Arc::new(watchlists));
        let titles = TITLES.map(|(source, title)| (source.name(), title));
        let limits = Limits::new(Arc::clone(&self.limiter) as _, Arc::clone(&self.cool_downs) as _, titles);
        let digests = self.digests(tree);
        let recorded = |(name, digest)| Arc::new(Recorded { name, digest }) as _;
        Opened {
            services: services.with(Arc::clone(&credentials)),
            grpc: vec![service::service(credentials)],
            data: digests.into_iter().map(recorded).collect(),
            limits: Some(Arc::new(limits)),
            ..Opened::default()
        }
    }

    fn yahoo(&self) -> Yahoo {
        let set = &self.upstreams.yahoo;
        let settings = yahoo::Settings {
            base: self.base(Upstream::Yahoo, "yahoo", &set.base_url),
            cookie_base: self.base(Upstream::Yahoo, "yahoo-cookie", &set.cookie_url),
            now: self.now(Upstream::Yahoo),
        };
        Yahoo::new(self.client(Upstream::Yahoo, yahoo::PROFILE), settings)
    }

    fn nse(&self) -> Nse {
        let settings = nse::Settings {
            base: self.base(Upstream::Nse, "nse", &self.upstreams.nse.base_url),
            archives: self.base(Upstream::Nse, "nse", &self.upstreams.nse.archives_url),
            now: self.now(Upstream::Nse),
        };
        Nse::new(self.client(Upstream::Nse, nse::PROFILE), settings)
    }

    fn valuepickr(&self) -> ValuePickr {
        let settings = valuepickr::Settings {
            base_url: self.base(Upstream::ValuePickr, "valuepickr", &self.upstreams.valuepickr.base_url),
            public_url: public(VALUEPICKR_PUBLIC),
            now: self.now(Upstream::ValuePickr),
        };
        ValuePickr::new(self.client(Upstream::ValuePickr, valuepickr::PROFILE), settings)
    }

    fn reddit(&self) -> Reddit {
        let set = &self.upstreams.reddit;
        let configured = self.upstreams.credentials.reddit.as_ref();
        let name = configured.map_or("toolwire", |credentials| credentials.user_name.as_str());
        let settings = reddit::Settings {
            api_url: self.base(Upstream::Reddit, "reddit", &set.base_url),
            token_url: self.base(Upstream::Reddit, "reddit-token", &set.token_url),
            public_url: public(REDDIT_PUBLIC),
            user_agent: reddit_user_agent(name),
            credentials: if self.upstreams.is_embedded(Upstream::Reddit) {
                Some(reddit::Credentials::embedded())
            } else {
                configured.map(|it| reddit::Credentials {
                    client_id: it.client_id.clone(),
                    client_secret: it.client_secret.clone(),
                })
            },
            now: self.now(Upstream::Reddit),
        };
        Reddit::new(self.client(Upstream::Reddit, reddit::PROFILE), settings)
    }

    fn news(&self) -> News {
        let set = &self.upstreams.news;
        let settings = news::Settings {
            moneycontrol_url: self.base(Upstream::News, "moneycontrol", &set.moneycontrol_url),
            economic_times_url: self.base(Upstream::News, "economictimes", &set.economic_times_url),
            google_url: self.base(Upstream::News, "googlenews", &set.google_url),
            now: self.now(Upstream::News),
        };
        News::new(self.client(Upstream::News, news::PROFILE), settings)
    }

    fn screener(&self, credentials: Arc<screener::Credentials>) -> Screener {
        let set = &self.upstreams.screener;
        let base = self.base(Upstream::Screener, "screener", &set.base_url);
        let settings = match self.now(Upstream::Screener) {
            Now::Wall => screener::Settings::live(base, set.screens.iter().map(screen).collect()),
            now @ Now::Recorded(_) => screener::Settings::embedded(base, now),
        };
        let stores = screener::Stores {
            screens: Arc::clone(&self.screened) as _,
            cool_downs: Arc::clone(&self.cool_downs) as _,
        };
        Screener::new(self.client(Upstream::Screener, screener::PROFILE), stores, credentials, settings)
    }

    fn symbols(&self) -> Symbols {
        let universe = Arc::clone(&self.universe);
        if self.upstreams.is_embedded(Upstream::Yahoo) {
            Symbols::Known(universe)
        } else {
            Symbols::Open(universe)
        }
    }

    fn client(&self, source: Upstream, profile: Profile) -> Client {
        let timeout = self.upstreams.budget(source).timeout.unwrap_or(profile.timeout);
        let profile = Profile { timeout, ..profile };
        let (limiter, cool_downs) = (Arc::clone(&self.limiter) as _, Arc::clone(&self.cool_downs) as _);
        Client::new(profile, self.sender.clone(), limiter, cool_downs)
            .cooling_down_for(self.upstreams.cool_down)
    }

    /// Where a source is: at its embedded twin, or at the configured address.
    fn base(&self, source: Upstream, twin: &str, configured: &Url) -> Url {
        if self.upstreams.is_embedded(source) { embedded::base(twin) } else { configured.clone() }
    }

    fn now(&self, source: Upstream) -> Now {
        if self.upstreams.is_embedded(source) {
            Now::Recorded(self.universe.recorded_at())
        } else {
            Now::Wall
        }
    }

    fn digests(&self, tree: &Tree) -> Vec<(&'static str, String)> {
        // What the embedded sources answer from: a tree without research has the built-in one.
        let tree = if tree.has_directory("research") { tree } else { &Tree::Embedded };
        let embedded = format!("embedded:{}", tree.digest("research"));
        // At another address a live source is another one.
        let digest = |source| match self.upstreams.mode.of(source) {
            Mode::Embedded => embedded.clone(),
            Mode::Live => format!("live:{}", self.upstreams.addresses(source)),
        };
        Upstream::ALL.into_iter().map(|source| (source.name(), digest(source))).collect()
    }
}

/// What guidance calls the sources, as specification 004 does (`## Screener Tool Usage`).
const TITLES: [(Upstream, &str); 6] = [
    (Upstream::Yahoo, "Yahoo Finance"),
    (Upstream::ValuePickr, "ValuePickr"),
    (Upstream::Reddit, "Reddit"),
    (Upstream::News, "News"),
    (Upstream::Screener, "Screener"),
    (Upstream::Nse, "NSE"),
];

/// The known stocks of a tree, or else those that are built in.
fn universe(tree: &Tree) -> Result<Universe, OpenError> {
    let text = match tree.read(UNIVERSE)? {
        Some(text) => text,
        None => Tree::Embedded.read(UNIVERSE)?.expect("it is built in"),
    };
    Ok(Universe::parse(&text)?)
}

fn screen(configured: &config::Screen) -> screener::Screen {
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
