//! What can be set of the research tools: users' own screens, the rules by which stocks are judged, and the credentials
//! that sources want of the service.
//!
//! Not here: where sources are and how much may be asked of them, which is set in the same way for every source.

mod credentials;
mod profiles;
mod screens;
#[cfg(test)]
mod tests;

pub use credentials::{Credentials, RedditCredentials};
pub use profiles::{Forbidden, Profiles, WaitZone};
pub use screens::Screen;

use super::sources::specs::{REDDIT, SCREENER};
use toolwire_config::{Reader, Section};
use toolwire_engine::registry::Choice;
use toolwire_sources::upstream;

/// What can be set of the research tools.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Users' own screens at Screener.in. `[[sources.screener.screens]]`, in the file only; default none.
    pub screens: Vec<Screen>,
    /// The rules by which stocks are judged. `[wait_zone.<name>]` and `[forbidden.<name>]`, in the file only.
    pub profiles: Profiles,
    /// Our credentials, from the environment only.
    pub credentials: Credentials,
}

pub(super) fn section() -> Section {
    Section::new(read)
}

/// The profiles that tools may be asked to apply, by the configuration.
pub(super) fn choices(Settings { profiles, .. }: &Settings) -> Vec<Choice> {
    let words = |names: Vec<&String>| names.into_iter().cloned().collect();
    let choice = |tool, names| Choice { tool, parameter: "profile", words: words(names) };
    let of_wait_zone: Vec<_> = profiles.wait_zone.keys().collect();
    let forbidden: Vec<_> = profiles.forbidden.keys().collect();
    // Of fundamentals there is no history to replay.
    let of_prices = profiles.forbidden.iter().filter(|(_, rules)| !rules.has_fundamentals());
    vec![
        choice(
            "backtest_filter",
            of_wait_zone.iter().copied().chain(of_prices.map(|(name, _)| name)).collect(),
        ),
        choice("check_forbidden", forbidden),
        choice("check_wait_zone", of_wait_zone),
    ]
}

fn read(reader: &mut Reader) -> Settings {
    let settings = Settings {
        screens: screens::read(reader),
        profiles: Profiles::read(reader),
        credentials: Credentials::read(reader),
    };
    let sources = reader.part::<upstream::settings::Settings>();
    if sources.is_embedded(SCREENER.name) && !settings.screens.is_empty() {
        let what = "have no effect: screener is embedded, which has its own. Set sources.mode to embedded,screener=live, or remove them";
        reader.without_effect(screens::KEY, upstream::settings::MODE, what);
    }
    if sources.is_embedded(REDDIT.name) && settings.credentials.reddit.is_some() {
        let what = "has no effect: reddit is embedded, which needs no account. Set sources.mode to embedded,reddit=live, or unset it";
        reader.warn_of_variable(credentials::REDDIT_ID, what);
    }
    settings
}
