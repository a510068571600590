//! The profiles that tools may be asked to apply: a service, made of the configuration.

use std::collections::{BTreeMap, BTreeSet};

use super::{backtest::Filter, forbidden_stocks::Forbidden, reject, wait_zone::WaitZone};
use crate::settings;
use toolwire_contract::ToolError;

#[derive(Clone, Debug, PartialEq)]
pub struct Profiles {
    wait_zone: BTreeMap<String, WaitZone>,
    forbidden: BTreeMap<String, Forbidden>,
}

impl Profiles {
    /// The rules of the wait zone of a profile.
    pub fn wait_zone(&self, name: &str) -> Result<&WaitZone, ToolError> {
        self.wait_zone.get(name).ok_or_else(|| unknown(name, self.wait_zone.keys()))
    }

    /// The rules against buying of a profile.
    pub fn forbidden(&self, name: &str) -> Result<&Forbidden, ToolError> {
        self.forbidden.get(name).ok_or_else(|| unknown(name, self.forbidden.keys()))
    }

    /// Whether a profile has rules of the wait zone.
    pub fn has_wait_zone(&self, name: &str) -> bool {
        self.wait_zone.contains_key(name)
    }

    /// Whether a profile has rules against buying.
    pub fn has_forbidden(&self, name: &str) -> bool {
        self.forbidden.contains_key(name)
    }

    /// The names of all profiles, of either kind.
    pub fn names(&self) -> BTreeSet<&str> {
        self.wait_zone.keys().chain(self.forbidden.keys()).map(String::as_str).collect()
    }

    /// The rules of a profile by which the past can be judged: those of a wait zone, or those against buying. Rules
    /// about fundamentals are refused, since only the present fundamentals are known.
    pub fn filter(&self, name: &str) -> Result<Filter, ToolError> {
        if let Some(zone) = self.wait_zone.get(name) {
            return Ok(Filter::WaitZone(*zone));
        }
        let Some(forbidden) = self.forbidden.get(name) else {
            return Err(unknown(name, self.wait_zone.keys()));
        };
        let undated: Vec<_> = forbidden.fundamental_rules().collect();
        if undated.is_empty() {
            return Ok(Filter::Forbidden(forbidden.clone()));
        }
        let description = format!(
            "`profile` '{name}' has rules on fundamentals ({}), of which there is no dated history; use one of {}",
            undated.join(", "),
            list(self.wait_zone.keys())
        );
        Err(reject("profile", "enum", description))
    }
}

impl From<&settings::Profiles> for Profiles {
    fn from(profiles: &settings::Profiles) -> Self {
        Self {
            wait_zone: profiles.wait_zone.iter().map(|(name, zone)| (name.clone(), zone.into())).collect(),
            forbidden: profiles.forbidden.iter().map(|(name, rules)| (name.clone(), rules.into())).collect(),
        }
    }
}

impl Default for Profiles {
    fn default() -> Self {
        Self::from(&settings::Profiles::default())
    }
}

fn unknown<'a>(name: &str, known: impl Iterator<Item = &'a String>) -> ToolError {
    reject("profile", "enum", format!("`profile` cannot be '{name}'; use one of {}", list(known)))
}

fn list<'a>(names: impl Iterator<Item = &'a String>) -> String {
    names.map(String::as_str).collect::<Vec<_>>().join(", ")
}
