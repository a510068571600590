//! Hints for planners without a model, beside the definition. Callers do not see them, and no digest covers them.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    extract::Extract,
    field_declaration::FieldDeclaration,
    problem::{Report, join},
};

/// Bounds on the number of keywords of a manifest that has any.
pub(super) const FEWEST: usize = 5;
pub(super) const MOST: usize = 60;

/// Maximum length of a keyword in characters: a phrase and not a sentence.
pub(super) const LONGEST: usize = 60;

/// The parts of a manifest that only planners without a model use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlannerHints {
    /// Phrases of questions that this tool answers and similar tools do not.
    pub keywords: Vec<String>,
    /// The extraction of parameters from a message, by parameter.
    pub extracts: BTreeMap<String, Extract>,
}

impl PlannerHints {
    /// Reads the hints of a manifest and reports its problems. `schema` is the input schema.
    pub(super) fn new(
        keywords: &[String],
        parameters: &[FieldDeclaration],
        schema: &Value,
        report: &mut Report,
    ) -> Self {
        refuse_equal_keywords(keywords, report);
        let declared = parameters.iter();
        let extracts = declared.filter_map(|it| Some((it.name.clone(), it.extract.clone()?)));
        let extracts: BTreeMap<_, _> = extracts.collect();
        for (name, extract) in &extracts {
            // A parameter that the message lacks is reported by the derivation of the schema.
            if let Some(property) = schema.get("properties").and_then(|all| all.get(name)) {
                extract.check(property, &join(&join("/parameters", name), "extract"), report);
            }
        }
        Self { keywords: keywords.to_vec(), extracts }
    }
}

fn refuse_equal_keywords(keywords: &[String], report: &mut Report) {
    for (index, keyword) in keywords.iter().enumerate() {
        if keywords[..index].iter().any(|other| other.eq_ignore_ascii_case(keyword)) {
            report.add(
                join("/keywords", index),
                "duplicate",
                format!("the keyword `{keyword}` stands twice; keep one"),
            );
        }
    }
}
