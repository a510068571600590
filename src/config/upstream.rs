//! Settings of the sources that the research tools ask: where each is, and how much may be asked of it (spec 004 §4.2).
//!
//! Not here: the settings of one source, which `source` spells out for all of them alike.

mod base_url;
mod budget;
mod cool_down;
mod credentials;
mod mode;
mod screens;
mod source;

use serde::{Deserialize, Serialize};

pub use budget::{Budget, Policy, SourcePolicy};
pub use cool_down::CoolDown;
pub(super) use credentials::VARIABLES;
pub use credentials::{Credentials, RedditCredentials};
pub use mode::{InvalidMode, Mode, Modes};
pub use screens::Screen;
pub use source::{News, Nse, Reddit, Screener, ValuePickr, Yahoo};

use super::{Problem, setting::Setting};

/// A current browser, as the sources expect one.
const CHROME: &str = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) \
                      Chrome/143.0.0.0 Safari/537.36";

/// A source that is asked over HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Upstream {
    /// Yahoo Finance.
    Yahoo,
    /// `ValuePickr`.
    ValuePickr,
    /// Reddit.
    Reddit,
    /// `MoneyControl`, Economic Times and Google News together.
    News,
    /// Screener.in.
    Screener,
    /// NSE.
    Nse,
}

/// The sources: `[sources]`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Upstreams {
    /// Which sources are embedded and which are live, such as `live` or `embedded,yahoo=live`. `--sources`,
    /// `TOOLWIRE_SOURCES`, default `embedded`.
    pub mode: Modes,
    /// What sources that expect a browser are told. `TOOLWIRE_SOURCES_USER_AGENT`, default a current Chrome.
    pub user_agent: String,
    /// How long a source is left alone after it refused us.
    pub cool_down: CoolDown,
    /// Yahoo Finance.
    pub yahoo: Yahoo,
    /// `ValuePickr`.
    pub valuepickr: ValuePickr,
    /// Reddit.
    pub reddit: Reddit,
    /// The news.
    pub news: News,
    /// Screener.in.
    pub screener: Screener,
    /// NSE.
    pub nse: Nse,
    /// Our credentials, from the environment only.
    #[serde(skip)]
    pub credentials: Credentials,
}

const OWN: &[Setting] = &[
    Setting::new("sources.mode", "TOOLWIRE_SOURCES").flag("--sources"),
    Setting::new("sources.user_agent", "TOOLWIRE_SOURCES_USER_AGENT"),
];

/// The settings, a list a table.
pub(super) const SETTINGS: [&[Setting]; 8] = [
    OWN,
    cool_down::SETTINGS,
    Yahoo::SETTINGS,
    ValuePickr::SETTINGS,
    Reddit::SETTINGS,
    News::SETTINGS,
    Screener::SETTINGS,
    Nse::SETTINGS,
];

impl Upstream {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Yahoo, Self::ValuePickr, Self::Reddit, Self::News, Self::Screener, Self::Nse];

    /// Its name in manifests, limits, metrics and settings.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Yahoo => "yahoo",
            Self::ValuePickr => "valuepickr",
            Self::Reddit => "reddit",
            Self::News => "news",
            Self::Screener => "screener",
            Self::Nse => "nse",
        }
    }

    /// The one of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|source| source.name() == name)
    }
}

impl Default for Upstreams {
    fn default() -> Self {
        Self {
            mode: Modes::default(),
            user_agent: CHROME.to_owned(),
            cool_down: CoolDown::default(),
            yahoo: Yahoo::default(),
            valuepickr: ValuePickr::default(),
            reddit: Reddit::default(),
            news: News::default(),
            screener: Screener::default(),
            nse: Nse::default(),
            credentials: Credentials::default(),
        }
    }
}

impl Upstreams {
    /// Whether the source's embedded twin answers in its place.
    pub fn is_embedded(&self, source: Upstream) -> bool {
        self.mode.of(source) == Mode::Embedded
    }

    /// How much may be asked of the source. Embedded, it has no spacing and more room unless they are set: nobody
    /// can be banned.
    pub fn policy(&self, source: Upstream) -> SourcePolicy {
        self.budget(source).policy(self.mode.of(source))
    }

    /// Where the source is: its addresses in one text.
    pub fn addresses(&self, source: Upstream) -> String {
        let Self { yahoo, valuepickr, reddit, news, screener, nse, .. } = self;
        match source {
            Upstream::Yahoo => format!("{} {}", yahoo.base_url, yahoo.cookie_url),
            Upstream::ValuePickr => valuepickr.base_url.to_string(),
            Upstream::Reddit => format!("{} {}", reddit.base_url, reddit.token_url),
            Upstream::News => {
                format!("{} {} {}", news.moneycontrol_url, news.economic_times_url, news.google_url)
            }
            Upstream::Screener => screener.base_url.to_string(),
            Upstream::Nse => format!("{} {}", nse.base_url, nse.archives_url),
        }
    }

    /// What is set of the source's limits.
    pub fn budget(&self, source: Upstream) -> Budget {
        match source {
            Upstream::Yahoo => self.yahoo.budget(),
            Upstream::ValuePickr => self.valuepickr.budget(),
            Upstream::Reddit => self.reddit.budget(),
            Upstream::News => self.news.budget(),
            Upstream::Screener => self.screener.budget(),
            Upstream::Nse => self.nse.budget(),
        }
    }

    /// What its values cannot mean, by key.
    pub(super) fn problems(&self) -> Vec<Problem> {
        let mut problems = self.cool_down.problems();
        if self.user_agent.is_empty() || !self.user_agent.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            let what = "must be visible ASCII characters and spaces, at least one";
            problems.push(Problem::new("sources.user_agent", what));
        }
        for source in Upstream::ALL {
            problems.extend(self.budget(source).problems(source));
        }
        problems.extend(screens::problems(&self.screener.screens));
        problems
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn seconds(source: Upstream) -> (u32, Duration, Duration) {
        let upstreams = Upstreams { mode: "live".to_owned().try_into().unwrap(), ..Upstreams::default() };
        let SourcePolicy { per_user, ceiling } = upstreams.policy(source);
        assert_eq!(per_user, ceiling, "{source:?}");
        (per_user.max_requests, per_user.window, per_user.min_delay)
    }

    #[test]
    fn the_defaults_are_those_of_spec_004() {
        let minute = Duration::from_mins(1);
        assert_eq!(seconds(Upstream::Screener), (6, minute, Duration::from_secs(10)));
        assert_eq!(seconds(Upstream::ValuePickr), (12, minute, Duration::from_secs(5)));
        assert_eq!(seconds(Upstream::Reddit), (30, minute, Duration::from_secs(2)));
        assert_eq!(seconds(Upstream::Yahoo), (60, minute, Duration::from_secs(1)));
        assert_eq!(seconds(Upstream::News), (12, minute, Duration::from_secs(5)));
        assert_eq!(seconds(Upstream::Nse), (3, Duration::from_secs(1), Duration::from_millis(350)));
    }

    #[test]
    fn an_embedded_source_has_more_room_and_spacing_only_if_it_is_set() {
        let mut upstreams = Upstreams::default();
        upstreams.news.min_delay = Some(Duration::from_millis(7));
        let yahoo = upstreams.policy(Upstream::Yahoo);
        assert_eq!((yahoo.per_user.min_delay, yahoo.ceiling.min_delay), (Duration::ZERO, Duration::ZERO));
        assert_eq!((yahoo.per_user.max_requests, yahoo.per_user.window), (600, Duration::from_mins(1)));
        let news = upstreams.policy(Upstream::News);
        assert_eq!(
            (news.per_user.min_delay, news.ceiling.min_delay),
            (Duration::from_millis(7), Duration::ZERO)
        );
    }
}
