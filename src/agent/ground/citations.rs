//! Citations: `[tool:quotes:v1]`, or several in one pair of brackets. Not here: which block needs one.

use std::ops::Range;

use super::{
    issue::{Issue, IssueKind},
    markdown::Covered,
};

/// One pair of brackets with citations in it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Citation<'a> {
    /// Where it stands, brackets included.
    pub(super) range: Range<usize>,
    /// The sources that it names.
    pub(super) source_ids: Vec<&'a str>,
}

/// How every `source_id` of ours begins.
const PREFIX: &str = "tool:";

/// The longest text in brackets that is looked at, in bytes.
const LONGEST: usize = 400;

/// The citations of a text, or the first that names no source of this turn. A bracket behind a backslash is not one,
/// nor is one in code.
pub(super) fn citations<'a>(
    text: &'a str,
    code: &[Range<usize>],
    is_source: impl Fn(&str) -> bool,
) -> Result<Vec<Citation<'a>>, Issue> {
    let (mut found, mut code) = (Vec::new(), Covered::of(code));
    for range in brackets(text) {
        if code.has(range.start) {
            continue;
        }
        let inner = &text[range.start + 1..range.end - 1];
        let names: Vec<_> = inner.split([',', ';']).map(str::trim).collect();
        if !names.iter().any(|name| name.starts_with(PREFIX) || is_source(name)) {
            continue;
        }
        if let Some(wrong) = names.iter().find(|name| !is_source(name)) {
            return Err(Issue::new(IssueKind::Citation, wrong));
        }
        found.push(Citation { range, source_ids: names });
    }
    Ok(found)
}

/// A source as it stands in a text.
pub(super) fn marker(source_id: &str) -> String {
    format!("[{source_id}]")
}

/// The innermost pairs of brackets that are not escaped.
fn brackets(text: &str) -> Vec<Range<usize>> {
    let (mut found, mut open) = (Vec::new(), None);
    let (bytes, mut at) = (text.as_bytes(), 0);
    while at < bytes.len() {
        match (bytes[at], open) {
            (b'\\', _) => at += 1,
            (b'[', _) => open = Some(at),
            (b']', Some(start)) => {
                if at - start <= LONGEST {
                    found.push(start..at + 1);
                }
                open = None;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Result<Vec<Vec<&str>>, Issue> {
        let code = super::super::markdown::code(text);
        let citations = citations(text, &code, |id| id == "tool:a:v1" || id == "tool:b:v1")?;
        Ok(citations.into_iter().map(|it| it.source_ids).collect())
    }

    #[test]
    fn only_sources_of_the_turn_are_citations() {
        assert_eq!(
            found("x [tool:a:v1] y [tool:a:v1; tool:b:v1] [1]"),
            Ok(vec![vec!["tool:a:v1"], vec!["tool:a:v1", "tool:b:v1"]])
        );
        assert_eq!(found("`[tool:c:v1]` \\[tool:c:v1\\] [see] [tool:a:v1"), Ok(vec![]));
        let wrong = found("[tool:a:v1] [tool:c:v1]").unwrap_err();
        assert_eq!((wrong.kind, wrong.text.as_str()), (IssueKind::Citation, "tool:c:v1"));
    }
}
