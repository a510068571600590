//! What a source says of its data: its digest, what is wrong with it, and which parts cannot be served.

use std::collections::BTreeMap;

use super::definition::Definition;
use crate::files::Problem;

/// The state of a source's data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceHealth {
    /// Identifies the data now served: a digest in hex, with the mode of a source that has several, such as `live`. Results
    /// are cached under it.
    pub digest: String,
    /// What is wrong with the files on disk.
    pub problems: Vec<Problem>,
    /// The parts that cannot be served now, and why, such as `Missing section 'quotes' in user_master.json`.
    pub sections: BTreeMap<String, String>,
}

/// The sources by name.
pub(super) type Sources = BTreeMap<String, SourceHealth>;

/// Why calls of a tool will fail, if its source says so.
pub(super) fn degradation(definition: &Definition, sources: &Sources) -> Option<String> {
    let source = definition.source.as_ref()?;
    let health = sources.get(&source.name)?;
    let reasons: Vec<_> = source
        .sections
        .iter()
        .filter_map(|section| health.sections.get(section))
        .map(String::as_str)
        .collect();
    (!reasons.is_empty()).then(|| reasons.join("; "))
}
