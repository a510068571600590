//! What planners without a model know of a tool beside its definition. Callers do not see it, and no digest covers it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    declared::Declared,
    extract::Extract,
    problem::{Report, join},
};

/// So many keywords a manifest has, if it has any.
pub(super) const FEWEST: usize = 5;
pub(super) const MOST: usize = 60;

/// The longest keyword, in characters: a phrase and not a sentence.
pub(super) const LONGEST: usize = 60;

/// The words of a manifest that only planners without a model read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Routing {
    /// Phrases of questions that this tool answers and those beside it do not.
    pub keywords: Vec<String>,
    /// How parameters are read from a message, by parameter.
    pub extracts: BTreeMap<String, Extract>,
}

impl Routing {
    /// What the manifest says, or what is wrong with it. `schema` is that of the arguments.
    pub(super) fn new(
        keywords: &[String],
        parameters: &[Declared],
        schema: &Value,
        report: &mut Report,
    ) -> Self {
        refuse_equal_keywords(keywords, report);
        let declared = parameters.iter();
        let extracts = declared.filter_map(|it| Some((it.name.clone(), it.extract.clone()?)));
        let extracts: BTreeMap<_, _> = extracts.collect();
        for (name, extract) in &extracts {
            // One that the message does not have is reported where that is found out.
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
