//! Settings of the sources that tools ask: where each is, and how much may be asked of it.
//!
//! Made from what domains say of their sources; no source is known here.

mod base_url;
mod cool_down;
mod mode;
mod of_source;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use url::Url;

pub use cool_down::CoolDown;
pub use mode::{InvalidMode, MODE, Mode, Modes};
pub use of_source::SourceSettings;

use super::{limiter::Budgets, source::SourceSpec};
use toolwire_config::{Reader, Section, Setting};

/// A current browser, as many sources expect one.
const CHROME: &str = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) \
                      Chrome/143.0.0.0 Safari/537.36";

/// The sources: `[sources]`.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Which sources are embedded and which are live, such as `live` or `embedded,forum=live`. `--sources`,
    /// `TOOLWIRE_SOURCES`, default `embedded`.
    pub mode: Modes,
    /// The `User-Agent` sent to sources, except to those that need their own.
    /// `TOOLWIRE_SOURCES_USER_AGENT`, default a current Chrome.
    pub user_agent: String,
    /// How long a source is left alone after it refused us.
    pub cool_down: CoolDown,
    /// What is set of each source, by name.
    pub sources: BTreeMap<String, SourceSettings>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            mode: Modes::default(),
            user_agent: CHROME.to_owned(),
            cool_down: CoolDown::default(),
            sources: BTreeMap::new(),
        }
    }
}

/// The section of the given sources, each with the name of the domain that brings it.
pub fn section(sources: Vec<(&'static str, SourceSpec)>) -> Section {
    Section::new(move |reader| Settings::read(&sources, reader))
}

impl Settings {
    pub fn mode(&self, source: &str) -> Mode {
        self.mode.of(source)
    }

    /// Whether the source's embedded twin answers in its place.
    pub fn is_embedded(&self, source: &str) -> bool {
        self.mode(source) == Mode::Embedded
    }

    /// How much may be asked of the source.
    pub fn budgets(&self, spec: &SourceSpec) -> Budgets {
        self.of(spec).budgets(spec, self.mode(spec.name))
    }

    /// How much may be asked of the source while it is live.
    pub fn live_budgets(&self, spec: &SourceSpec) -> Budgets {
        self.of(spec).budgets(spec, Mode::Live)
    }

    /// Where one of the source's addresses is, whether it is asked or not.
    pub fn address(&self, spec: &SourceSpec, key: &str) -> Url {
        self.of(spec).address(spec, key)
    }

    pub fn of(&self, spec: &SourceSpec) -> SourceSettings {
        self.sources.get(spec.name).cloned().unwrap_or_default()
    }

    fn read(sources: &[(&'static str, SourceSpec)], reader: &mut Reader) -> Self {
        let names: Vec<_> = sources.iter().map(|(_, spec)| spec.name).collect();
        let mode = Setting::new(MODE, "TOOLWIRE_SOURCES").flag("--sources");
        let user_agent = Setting::new("sources.user_agent", "TOOLWIRE_SOURCES_USER_AGENT");
        let mut settings = Self {
            mode: reader.text(mode, Modes::default(), |text| Modes::parse(text, &names)),
            user_agent: reader.value(user_agent, CHROME.to_owned()),
            cool_down: CoolDown::read(reader),
            sources: BTreeMap::new(),
        };
        settings.check(sources, reader);
        for (domain, spec) in sources {
            reader.on_behalf_of(domain);
            if reader.claim(&format!("source {}", spec.name)) {
                let of_source = SourceSettings::read(spec, settings.mode(spec.name), reader);
                settings.sources.insert(spec.name.to_owned(), of_source);
            }
        }
        settings
    }

    fn check(&self, sources: &[(&'static str, SourceSpec)], reader: &mut Reader) {
        let is_text = self.user_agent.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        if self.user_agent.is_empty() || !is_text {
            reader.problem("sources.user_agent", "must be visible ASCII characters and spaces, at least one");
        }
        let live: Vec<_> = sources.iter().filter(|(_, spec)| !self.is_embedded(spec.name)).collect();
        let why = match live.as_slice() {
            [] => "every source is embedded. Set sources.mode to live, or remove it",
            _ => "the sources that are live say themselves who asks. Remove it",
        };
        let what = format!("has no effect: {why}");
        if self.user_agent != CHROME && live.iter().all(|(_, spec)| spec.names_itself) {
            reader.without_effect("sources.user_agent", MODE, &what);
        }
        let (set, usual) = (self.cool_down, CoolDown::default());
        for (key, is_usual) in [
            ("sources.cool_down.blocked", set.blocked == usual.blocked),
            ("sources.cool_down.auth_failed", set.auth_failed == usual.auth_failed),
        ] {
            if live.is_empty() && !is_usual {
                reader.without_effect(key, MODE, &what);
            }
        }
    }
}
