//! What a source says of its data, its digest, what is wrong with it, and which parts cannot be served; and which
//! sources refuse us altogether.

use std::{collections::BTreeMap, fmt::Debug};

use super::definition::Definition;
use toolwire_base::files::Problem;

/// The state of a source's data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceHealth {
    /// Identifies the data now served: a digest in hex, with the mode of a source that has several, such as `live`.
    /// Results are cached under it.
    pub digest: String,
    /// What is wrong with the files on disk; the registry tells callers of what is for callers.
    pub problems: Vec<Problem>,
    /// The parts that cannot be served now, and why, such as `Missing section 'quotes' in user_master.json`.
    pub sections: BTreeMap<String, String>,
}

/// A source that the registry tells of: what its data is, and what is wrong with it.
pub trait DataSource: Send + Sync + Debug {
    /// Its name, as manifests say it.
    fn name(&self) -> &str;
    /// Looks at the data again.
    fn refresh(&self) -> SourceHealth;
}

#[derive(Debug, Default)]
pub(super) struct Sources {
    data: BTreeMap<String, SourceHealth>,
    /// The sources that are in a cool-down, and why; a part of one is `<source>/<section>`. Set apart from `data`,
    /// since someone else reports it.
    refused: BTreeMap<String, String>,
}

impl Sources {
    /// Whether this is news.
    pub(super) fn set(&mut self, source: &str, health: SourceHealth) -> bool {
        let is_news = self.data.get(source) != Some(&health);
        self.data.insert(source.to_owned(), health);
        is_news
    }

    /// Whether this is news.
    pub(super) fn set_refused(&mut self, refused: BTreeMap<String, String>) -> bool {
        let is_news = self.refused != refused;
        self.refused = refused;
        is_news
    }

    /// What each source says of its data.
    pub(super) fn data(&self) -> &BTreeMap<String, SourceHealth> {
        &self.data
    }

    /// Why calls of a tool will fail, if its source is the reason, or that of a tool that it calls.
    pub(super) fn degradation(
        &self,
        definition: &Definition,
        tools: &BTreeMap<&str, &Definition>,
    ) -> Option<String> {
        let mut reasons: Vec<&str> = Vec::new();
        let (mut to_ask, mut asked) = (vec![definition], Vec::new());
        // A tool may call itself, and two tools the same one.
        while let Some(definition) = to_ask.pop() {
            if asked.contains(&definition.name.as_str()) {
                continue;
            }
            asked.push(definition.name.as_str());
            for reason in self.reasons(definition) {
                if !reasons.contains(&reason) {
                    reasons.push(reason);
                }
            }
            to_ask.extend(definition.depends_on.iter().filter_map(|name| tools.get(name.as_str()).copied()));
        }
        (!reasons.is_empty()).then(|| joined(&reasons))
    }

    fn reasons<'a>(&'a self, definition: &Definition) -> Vec<&'a str> {
        let Some(source) = definition.source.as_ref() else { return Vec::new() };
        let sections = self.data.get(&source.name).map(|health| &health.sections);
        let missing = source.sections.iter().filter_map(|section| sections?.get(section));
        let whole = self.refused.get(&source.name);
        let parts =
            source.sections.iter().filter_map(|it| self.refused.get(&format!("{}/{it}", source.name)));
        whole.into_iter().chain(parts).chain(missing).map(String::as_str).collect()
    }
}

/// Several reasons in one text: some are sentences.
fn joined(reasons: &[&str]) -> String {
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
