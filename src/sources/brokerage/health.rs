//! What is wrong with the data: for start-up, which refuses it, and for operators while the last good data serves.

use std::{collections::BTreeMap, fmt};

use super::node::Problem;

/// The state of the data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// Identifies the content that is served: SHA-256 in hexadecimal.
    pub digest: String,
    /// What is wrong with files as they are now; what is served is their last good content.
    pub problems: Vec<FileProblem>,
    /// What the default user's data lacks: a message for each section.
    pub missing_sections: BTreeMap<String, String>,
}

/// What is wrong at one place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileProblem {
    /// The file, as a path in the data tree.
    pub file: String,
    /// JSON pointer to the place; empty for the whole file.
    pub pointer: String,
    /// A stable word for the broken rule.
    pub rule: &'static str,
    /// What is wrong.
    pub description: String,
}

/// The data cannot be served at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// There is no master file (000's words).
    #[error("Missing master data file: {0}")]
    MissingMaster(String),
    /// Files are broken; all of them are listed.
    #[error("{}", lines(.0))]
    Broken(Vec<FileProblem>),
}

impl FileProblem {
    pub(super) fn new(file: &str, rule: &'static str, description: impl Into<String>) -> Self {
        Self { file: file.to_owned(), pointer: String::new(), rule, description: description.into() }
    }

    pub(super) fn at(file: &str, problem: Problem) -> Self {
        Self { pointer: problem.pointer, ..Self::new(file, problem.rule, problem.description) }
    }
}

impl fmt::Display for FileProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, pointer, rule, description } = self;
        match pointer.as_str() {
            "" => write!(f, "{file}: {description} [{rule}]"),
            pointer => write!(f, "{file}#{pointer}: {description} [{rule}]"),
        }
    }
}

pub(super) fn lines(problems: &[FileProblem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}
