//! Collects what is wrong with a manifest.

use std::fmt;

use crate::{contract::proto::v1, files::Problem};

/// Collects the problems of one file.
#[derive(Debug)]
pub(super) struct Report {
    file: String,
    problems: Vec<Problem>,
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
    use crate::files::Problems;

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
