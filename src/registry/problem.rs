//! What is wrong with a manifest or a data file: where, which rule, how to mend it.
//!
//! Not here: what is wrong with a call's arguments, which is a `contract::Violation`.

use std::fmt;

use crate::contract::proto::v1;

/// One thing that is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file, relative to the data directory. Empty for what concerns no file.
    pub file: String,
    /// JSON pointer (RFC 6901) into the file. Empty for the file as a whole.
    pub pointer: String,
    /// A stable word for the broken rule, such as `unknown-key`.
    pub rule: &'static str,
    /// What is wrong and how to mend it.
    pub description: String,
}

/// Everything that is wrong, at once: one line each.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.iter().map(Problem::to_string).collect::<Vec<_>>().join("\n"))]
pub struct Problems(pub Vec<Problem>);

/// Collects the problems of one file.
#[derive(Debug)]
pub(super) struct Report {
    file: String,
    problems: Vec<Problem>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, pointer, rule, description } = self;
        match pointer.as_str() {
            "" => write!(f, "{file}: {description} [{rule}]"),
            _ => write!(f, "{file}#{pointer}: {description} [{rule}]"),
        }
    }
}

impl From<Problem> for v1::DefinitionProblem {
    fn from(problem: Problem) -> Self {
        let Problem { file, pointer, rule, description } = problem;
        Self { file, pointer, rule: rule.to_owned(), description }
    }
}

impl Report {
    pub(super) fn new(file: &str) -> Self {
        Self { file: file.to_owned(), problems: Vec::new() }
    }

    pub(super) fn add(
        &mut self,
        pointer: impl Into<String>,
        rule: &'static str,
        description: impl Into<String>,
    ) {
        let (pointer, description) = (pointer.into(), description.into());
        self.problems.push(Problem { file: self.file.clone(), pointer, rule, description });
    }

    pub(super) fn len(&self) -> usize {
        self.problems.len()
    }

    pub(super) fn into_problems(self) -> Vec<Problem> {
        self.problems
    }
}

/// A JSON pointer one level deeper.
pub(super) fn join(pointer: &str, segment: impl fmt::Display) -> String {
    let segment = segment.to_string().replace('~', "~0").replace('/', "~1");
    format!("{pointer}/{segment}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_reads_as_one_line() {
        let mut report = Report::new("tools/x.json");
        report.add(join("/parameters", "a/b"), "unknown-key", "no such key");
        report.add("", "bad-json", "not JSON");
        let text = Problems(report.into_problems()).to_string();
        let expected =
            "tools/x.json#/parameters/a~1b: no such key [unknown-key]\ntools/x.json: not JSON [bad-json]";
        assert_eq!(text, expected);
    }
}
