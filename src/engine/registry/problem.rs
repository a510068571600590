//! Collects the problems of a manifest.

use std::fmt;

use toolwire_base::files::Problem;
pub(super) use toolwire_schema::{MAX_QUOTED, cut, quoted};

/// Collects the problems of one file.
#[derive(Debug)]
pub(super) struct Report {
    file: String,
    tool: Option<String>,
    problems: Vec<Problem>,
}

impl Report {
    pub(super) fn new(file: &str) -> Self {
        Self { file: file.to_owned(), tool: tool_of_file(file), problems: Vec::new() }
    }

    pub(super) fn add(
        &mut self,
        pointer: impl Into<String>,
        rule: &'static str,
        description: impl Into<String>,
    ) {
        let problem = Problem::new(&self.file, rule, description);
        self.problems.push(Problem { pointer: pointer.into(), tool: self.tool.clone(), ..problem });
    }

    /// Takes over the problems of another file, each below a pointer there for what was below one here.
    pub(super) fn take_over(&mut self, other: Self, here: &str, there: &str) {
        let moved = other.problems.into_iter().map(|it| {
            let pointer = it.pointer.replacen(here, there, 1);
            Problem { pointer, tool: self.tool.clone(), ..it }
        });
        self.problems.extend(moved);
    }

    pub(super) fn len(&self) -> usize {
        self.problems.len()
    }

    pub(super) fn file(&self) -> &str {
        &self.file
    }

    pub(super) fn problems(&self) -> &[Problem] {
        &self.problems
    }

    pub(super) fn into_problems(self) -> Vec<Problem> {
        self.problems
    }
}

/// The tool that a manifest declares: its name is the file's.
fn tool_of_file(file: &str) -> Option<String> {
    Some(file.rsplit('/').next()?.strip_suffix(".json")?.to_owned())
}

/// A JSON pointer one level deeper.
pub(super) fn join(pointer: &str, segment: impl fmt::Display) -> String {
    let segment = segment.to_string().replace('~', "~0").replace('/', "~1");
    format!("{pointer}/{segment}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolwire_base::files::Problems;

    #[test]
    fn a_problem_of_a_manifest_concerns_its_tool_and_no_other_does() {
        let tool = |file: &str| {
            let mut report = Report::new(file);
            report.add("", "bad-json", "not JSON");
            report.into_problems().remove(0).tool
        };
        assert_eq!(tool("tools/x.json").as_deref(), Some("x"));
        assert_eq!(tool("tools"), None);
        assert_eq!(Problem::new("toys/x.json", "bad-json", "not JSON").tool, None);
    }

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
