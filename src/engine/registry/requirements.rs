//! What the configuration requires of tools, beside their files and offers: conditions on arguments, and the floor of
//! the provider that executes them.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{conditions::Configured, manifest::Manifest, parts::Source, problem::join};
use toolwire_config::{Consequence, ProviderFloor};

/// The requirements on tools.
#[derive(Clone, Copy, Debug)]
pub(super) struct Requirements<'a> {
    /// Conditions on arguments, by tool.
    pub(super) approve_unless: &'a BTreeMap<String, Map<String, Value>>,
    /// By provider.
    pub(super) floors: &'a BTreeMap<String, ProviderFloor>,
}

impl<'a> Requirements<'a> {
    /// The conditions on a tool, which a provider may execute.
    pub(super) fn conditions(self, tool: &str, provider: Option<&str>) -> Vec<Configured<'a>> {
        let of_all = self
            .approve_unless
            .get(tool)
            .map(|conditions| Configured { pointer: "/confirmations/approve_unless".to_owned(), conditions });
        let of_provider = provider.and_then(|provider| {
            let conditions = self.floors.get(provider)?.conditions.get(tool)?;
            Some(Configured { pointer: format!("{}/conditions", join("/providers", provider)), conditions })
        });
        of_all.into_iter().chain(of_provider).collect()
    }

    /// Raises what is below the floor of the provider, which is the source of what it executes.
    pub(super) fn raise(self, manifest: &mut Manifest, provider: Option<&str>) {
        let Some(provider) = provider else { return };
        let source = || Source { name: provider.to_owned(), sections: Vec::new() };
        manifest.source.get_or_insert_with(source);
        let Some(floor) = self.floors.get(provider) else { return };
        let stated = manifest.consequence_level.into_str().parse::<Consequence>().ok();
        if let Some(least) = floor.at_least.filter(|least| stated.is_none_or(|stated| stated < *least)) {
            manifest.consequence_level = least.into_str().parse().expect("the words of both are the same");
        }
        manifest.requires_confirmation |= floor.approve.iter().any(|pattern| pattern.matches(&manifest.name));
        manifest.untrusted |= floor.untrusted;
    }
}
