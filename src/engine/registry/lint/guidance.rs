//! Checks the guidance: a line names no other tool, which may be disabled or out of the user's reach while this one is
//! not.

use super::super::{definition::Definition, problem::Report};

/// Checks the guidance of one tool.
pub(super) fn check(definition: &Definition, others: &[&Definition], report: &mut Report) {
    for (index, line) in definition.guidance.iter().enumerate() {
        let mut words = line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        // A name of one word, such as `handoff`, may be just that word.
        let is_named = |word: &&str| word.contains('_') && others.iter().any(|it| it.name.as_str() == *word);
        if let Some(named) = words.find(is_named) {
            let fix =
                format!("say what {named} returns rather than its name: it may not be there for the reader");
            report.add(format!("/guidance/{index}"), "guidance-tool", fix);
        }
    }
}
