//! The settings that are single values: the key in the file, the variable and the flag of each.
//!
//! Users and screens are tables of their own and stand in the file only (`auth`, `upstream`).

use super::{admin, data, limits, log, server, upstream};

/// One setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Setting {
    /// The key in the file, such as `server.listen`.
    pub(super) key: &'static str,
    /// The environment variable.
    pub(super) variable: &'static str,
    /// The flag, if there is one.
    pub(super) flag: Option<&'static str>,
}

impl Setting {
    pub(super) const fn new(key: &'static str, variable: &'static str) -> Self {
        Self { key, variable, flag: None }
    }

    pub(super) const fn flag(self, flag: &'static str) -> Self {
        Self { flag: Some(flag), ..self }
    }
}

/// Every setting, in the order in which they are printed.
pub(super) fn all() -> impl Iterator<Item = &'static Setting> {
    let before = [server::SETTINGS, limits::SETTINGS, data::SETTINGS];
    before.into_iter().chain(upstream::SETTINGS).chain([log::SETTINGS, admin::SETTINGS]).flatten()
}

/// The setting of a key.
pub(super) fn by_key(key: &str) -> Option<&'static Setting> {
    all().find(|setting| setting.key == key)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;
    use crate::config::{Config, print};

    fn leaves(value: &Value, path: &str, into: &mut BTreeSet<String>) {
        let Value::Object(map) = value else {
            into.insert(path.to_owned());
            return;
        };
        for (key, inner) in map {
            let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            leaves(inner, &path, into);
        }
    }

    #[test]
    fn every_field_is_a_setting_and_every_setting_a_field() {
        let mut fields = BTreeSet::new();
        leaves(&print::values(&Config::default()), "", &mut fields);
        let settings: BTreeSet<_> = all().map(|setting| setting.key.to_owned()).collect();
        assert_eq!(fields, settings);
    }

    #[test]
    fn no_two_settings_share_a_variable_or_a_flag() {
        let variables: BTreeSet<_> = all().map(|setting| setting.variable).collect();
        assert_eq!(variables.len(), all().count());
        let flags: Vec<_> = all().filter_map(|setting| setting.flag).collect();
        assert_eq!(flags.iter().collect::<BTreeSet<_>>().len(), flags.len());
        assert!(variables.iter().all(|variable| variable.starts_with("TOOLWIRE_")));
    }
}
