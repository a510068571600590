//! The health of sources: the digest of their data, its problems, the sections that cannot be served, and the sources
//! that refuse requests altogether.

use std::{collections::BTreeMap, fmt::Debug};

use super::definition::Definition;
use toolwire_base::files::Problem;

/// The state of a source's data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceHealth {
    /// Identifies the data that is served now: a digest in hex, with the mode of a source that has several, such as
    /// `live`. It is part of the keys of cached results.
    pub digest: String,
    /// Problems of the files on disk; those for callers are shown to them.
    pub problems: Vec<Problem>,
    /// The sections that cannot be served now, with reasons such as `Missing section 'quotes' in user_master.json`.
    pub sections: BTreeMap<String, String>,
}

/// A source whose health the registry tracks.
pub trait DataSource: Send + Sync + Debug {
    /// The name by which manifests refer to it.
    fn name(&self) -> &str;
    /// Reads the data again if it changed, and returns its health.
    fn refresh(&self) -> SourceHealth;
}

#[derive(Debug, Default)]
pub(super) struct Sources {
    data: BTreeMap<String, SourceHealth>,
    /// The sources in a cool-down, with reasons; one section of a source is `<source>/<section>`. Separate from `data`,
    /// which has another writer.
    refused: BTreeMap<String, String>,
    /// The providers whose tools cannot be executed now, and why.
    providers: BTreeMap<String, String>,
}

impl Sources {
    /// Returns whether the health changed.
    pub(super) fn set(&mut self, source: &str, health: SourceHealth) -> bool {
        let has_changed = self.data.get(source) != Some(&health);
        self.data.insert(source.to_owned(), health);
        has_changed
    }

    /// Returns whether the set changed.
    pub(super) fn set_refused(&mut self, refused: BTreeMap<String, String>) -> bool {
        let has_changed = self.refused != refused;
        self.refused = refused;
        has_changed
    }

    /// Returns whether the set changed.
    pub(super) fn set_provider(&mut self, provider: &str, reason: Option<String>) -> bool {
        if self.providers.get(provider) == reason.as_ref() {
            return false;
        }
        match reason {
            Some(reason) => drop(self.providers.insert(provider.to_owned(), reason)),
            None => drop(self.providers.remove(provider)),
        }
        true
    }

    /// The health of each source's data, by source.
    pub(super) fn data(&self) -> &BTreeMap<String, SourceHealth> {
        &self.data
    }

    /// The reasons why calls of a tool will fail because of its source, or of the sources of the tools that it calls.
    pub(super) fn degradation(
        &self,
        definition: &Definition,
        tools: &BTreeMap<&str, &Definition>,
    ) -> Option<String> {
        let mut reasons: Vec<&str> = Vec::new();
        let (mut pending, mut visited) = (vec![definition], Vec::new());
        // Dependencies may be cyclic (a tool may call itself) and shared, so visited tools are skipped.
        while let Some(definition) = pending.pop() {
            if visited.contains(&definition.name.as_str()) {
                continue;
            }
            visited.push(definition.name.as_str());
            for reason in self.reasons(definition) {
                if !reasons.contains(&reason) {
                    reasons.push(reason);
                }
            }
            pending.extend(definition.depends_on.iter().filter_map(|name| tools.get(name.as_str()).copied()));
        }
        (!reasons.is_empty()).then(|| join_reasons(&reasons))
    }

    fn reasons<'a>(&'a self, definition: &Definition) -> Vec<&'a str> {
        let provider = definition.provider().and_then(|provider| self.providers.get(provider));
        let Some(source) = definition.source.as_ref() else {
            return provider.into_iter().map(String::as_str).collect();
        };
        let sections = self.data.get(&source.name).map(|health| &health.sections);
        let missing = source.sections.iter().filter_map(|section| sections?.get(section));
        let whole = self.refused.get(&source.name);
        let parts =
            source.sections.iter().filter_map(|it| self.refused.get(&format!("{}/{it}", source.name)));
        provider.into_iter().chain(whole).chain(parts).chain(missing).map(String::as_str).collect()
    }
}

/// Joins reasons, of which some are sentences.
fn join_reasons(reasons: &[&str]) -> String {
    let mut text = String::new();
    for reason in reasons {
        match text.chars().last() {
            None => {}
            Some('.') => text.push(' '),
            Some(_) => text.push_str("; "),
        }
        text.push_str(reason);
    }
    text
}
