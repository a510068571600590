//! What can be set of Screener.in.

use std::{ops::RangeInclusive, time::Duration};

use url::Url;

use super::{Login, Screen};
use toolwire_sources::upstream::now::Now;

/// What can be set.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The base address of every request; ends in `/`.
    pub base: Url,
    pub now: Now,
    /// How long to wait between two pages, at random within these bounds, as a person would.
    pub pause: RangeInclusive<Duration>,
    /// A call with less time left does not spend the day's scrape.
    pub least_time: Duration,
    /// Which screens there are, and for which users.
    pub screens: Vec<Screen>,
    /// Used where a user has given no credentials.
    pub demo: Option<Login>,
}

impl Settings {
    /// Those of the embedded origin: no pauses, a screen for each id, credentials built in.
    pub fn embedded(base: Url, now: Now) -> Self {
        Self {
            base,
            now,
            pause: Duration::ZERO..=Duration::ZERO,
            least_time: Duration::ZERO,
            screens: Screen::embedded(),
            demo: Some(Login::demo()),
        }
    }

    /// Those of the real site, with the configured screens.
    pub fn live(base: Url, screens: Vec<Screen>) -> Self {
        Self {
            base,
            now: Now::Wall,
            pause: Duration::from_secs(2)..=Duration::from_secs(5),
            // Signing in and one page, ten seconds apart.
            least_time: Duration::from_secs(25),
            screens,
            demo: None,
        }
    }
}
