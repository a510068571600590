//! The settings of one source: its addresses, its limits, its time-out. The same for all of them.

use std::{collections::BTreeMap, time::Duration};

use url::Url;

use super::{MODE, Mode, base_url};
use crate::upstream::{
    limiter::{Budget, Budgets},
    source::SourceSpec,
};
use toolwire_config::{Reader, Setting};

/// What is set of one source; what is not set is as its [`SourceSpec`] says. Variables are
/// `TOOLWIRE_SOURCES_<NAME>_<KEY>`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceSettings {
    /// Addresses by key, such as `base_url`; each ends in `/`.
    pub addresses: BTreeMap<&'static str, Url>,
    /// Requests of one user in each window. `max_requests`, default the source's own for a live source and ten times
    /// that for an embedded one.
    pub max_requests: Option<u32>,
    /// The user's window. `window`, default the source's own.
    pub window: Option<Duration>,
    /// The least time between two requests of one user. `min_delay`, default the source's own for a live source and
    /// none for an embedded one.
    pub min_delay: Option<Duration>,
    /// Requests of all users in each window. `ceiling_max_requests`, default as `max_requests`'.
    pub ceiling_max_requests: Option<u32>,
    /// The window of all users. `ceiling_window`, default the source's own.
    pub ceiling_window: Option<Duration>,
    /// The least time between two requests of any users. `ceiling_min_delay`, default as `min_delay`'s.
    pub ceiling_min_delay: Option<Duration>,
    /// The bound on one attempt. `timeout`, default the source's own.
    pub timeout: Option<Duration>,
}

/// Factor on the budget of an embedded source: it bans no client, and trying it out should not wait.
const EMBEDDED_FACTOR: u32 = 10;

/// The budget of a source where nothing is set.
fn usual(spec: &SourceSpec, mode: Mode) -> Budget {
    let Budget { max_requests, window, .. } = spec.budget;
    match mode {
        Mode::Live => spec.budget,
        Mode::Embedded => {
            Budget { max_requests: max_requests * EMBEDDED_FACTOR, window, min_delay: Duration::ZERO }
        }
    }
}

impl SourceSettings {
    /// How much may be asked of the source. An embedded one has no spacing and a larger budget unless they are set.
    pub fn budgets(&self, spec: &SourceSpec, mode: Mode) -> Budgets {
        let usual = usual(spec, mode);
        let per_user = Budget {
            max_requests: self.max_requests.unwrap_or(usual.max_requests),
            window: self.window.unwrap_or(usual.window),
            min_delay: self.min_delay.unwrap_or(usual.min_delay),
        };
        let ceiling = Budget {
            max_requests: self.ceiling_max_requests.unwrap_or(usual.max_requests),
            window: self.ceiling_window.unwrap_or(usual.window),
            min_delay: self.ceiling_min_delay.unwrap_or(usual.min_delay),
        };
        Budgets { per_user, ceiling }
    }

    /// Where one of the source's addresses is.
    ///
    /// # Panics
    /// If the source has no address of this key, or its default is none: mistakes in the domain's own code.
    pub fn address(&self, spec: &SourceSpec, key: &str) -> Url {
        let address = spec.addresses.iter().find(|address| address.key == key);
        let default = address.unwrap_or_else(|| panic!("{} has no address {key}", spec.name)).default;
        let default = || base_url::parse(default).expect("the default of an address is one");
        self.addresses.get(key).cloned().unwrap_or_else(default)
    }

    pub(super) fn read(spec: &SourceSpec, mode: Mode, reader: &mut Reader) -> Self {
        let mut keys = Keys { spec, reader };
        let usual = usual(spec, mode);
        Self {
            addresses: keys.addresses(mode),
            max_requests: keys.number("max_requests", usual.max_requests),
            window: Some(keys.length("window", usual.window)),
            min_delay: keys.delay("min_delay", usual.min_delay),
            ceiling_max_requests: keys.number("ceiling_max_requests", usual.max_requests),
            ceiling_window: Some(keys.length("ceiling_window", usual.window)),
            ceiling_min_delay: keys.delay("ceiling_min_delay", usual.min_delay),
            timeout: keys.timeout(),
        }
    }
}

/// The settings of one source by their names in its table.
struct Keys<'a> {
    spec: &'a SourceSpec,
    reader: &'a mut Reader,
}

impl Keys<'_> {
    fn key(&self, name: &str) -> String {
        format!("sources.{}.{name}", self.spec.name)
    }

    fn setting(&self, name: &str) -> Setting {
        let variable = format!("TOOLWIRE_SOURCES_{}_{name}", self.spec.name).to_uppercase();
        Setting::new(self.key(name), variable)
    }

    fn addresses(&mut self, mode: Mode) -> BTreeMap<&'static str, Url> {
        let mut addresses = BTreeMap::new();
        for address in self.spec.addresses {
            let default = SourceSettings::default().address(self.spec, address.key);
            let setting = self.setting(address.key);
            let set = self.reader.text(setting, default.clone(), base_url::parse);
            if mode == Mode::Embedded && set != default {
                let name = self.spec.name;
                let what = format!(
                    "has no effect: {name} is embedded, which asks no site. Set sources.mode to embedded,{name}=live, or remove it"
                );
                self.reader.without_effect(&self.key(address.key), MODE, &what);
            }
            addresses.insert(address.key, set);
        }
        addresses
    }

    fn number(&mut self, name: &str, usual: u32) -> Option<u32> {
        let number = self.reader.optional(self.setting(name), Some(usual));
        self.refuse(name, number == Some(0));
        number
    }

    fn length(&mut self, name: &str, usual: Duration) -> Duration {
        let length = self.reader.value(self.setting(name), usual);
        self.refuse(name, length.is_zero());
        length
    }

    /// Zero is allowed.
    fn delay(&mut self, name: &str, usual: Duration) -> Option<Duration> {
        self.reader.optional(self.setting(name), Some(usual))
    }

    fn timeout(&mut self) -> Option<Duration> {
        let timeout = self.reader.optional(self.setting("timeout"), Some(self.spec.timeout));
        self.refuse("timeout", timeout.is_some_and(|timeout| timeout.is_zero()));
        timeout
    }

    fn refuse(&mut self, name: &str, is_zero: bool) {
        if is_zero {
            self.reader.problem(&self.key(name), "must be more than zero: nothing could be asked");
        }
    }
}
