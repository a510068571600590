//! What rules find, against the exceptions that are still allowed. A list of exceptions can only shrink.

use std::collections::BTreeSet;

/// Something that breaks a rule.
#[derive(Debug)]
pub(crate) struct Finding {
    /// What an exception names.
    pub(crate) what: String,
    /// What is wrong with it, and how to fix it.
    pub(crate) why: String,
}

impl Finding {
    /// Both in words.
    pub(crate) fn new(what: &str, why: &str) -> Self {
        Self { what: what.to_owned(), why: why.to_owned() }
    }
}

/// Fails on what is not excepted, and on exceptions that nothing needs any more.
#[track_caller]
pub(crate) fn assert_only(exceptions: &[&str], findings: &[Finding]) {
    let found = findings.iter().map(|finding| finding.what.as_str()).collect::<BTreeSet<_>>();
    let excepted = exceptions.iter().copied().collect::<BTreeSet<_>>();
    let new = findings.iter().filter(|finding| !excepted.contains(finding.what.as_str()));
    let new = new.map(|finding| format!("{}: {}", finding.what, finding.why));
    let unneeded = excepted
        .difference(&found)
        .map(|what| format!("{what}: keeps the rule now, so delete its exception"));
    let problems = new.chain(unneeded).collect::<Vec<_>>();
    assert!(problems.is_empty(), "\n  {}\n", problems.join("\n  "));
}
