//! The question to the user if no model can correct a call: its violations in words for people.

use crate::answer::embedded::plain_words::in_plain_words;
use toolwire_contract::{ErrorCode, ToolError, Violation};

/// Whether another wording may help: for invalid arguments, or for an unknown name if the error lists the known ones.
pub(super) fn may_help(error: &ToolError) -> bool {
    error.code == ErrorCode::InvalidArgument
        || (error.code == ErrorCode::NotFound && error.message.contains(". Known "))
}

pub(super) fn question<'a>(errors: impl Iterator<Item = &'a ToolError>) -> String {
    let wrong: Vec<_> = errors.flat_map(violations).collect();
    format!("{} Can you say it differently?", wrong.join(" "))
}

fn violations(error: &ToolError) -> Vec<String> {
    match error.violations.as_slice() {
        [] => vec![sentence(&in_plain_words(&error.message))],
        violations => violations.iter().map(|it| sentence(&in_plain_words(&missing(it)))).collect(),
    }
}

/// The description of a violation. For a missing parameter its name, which is for programs, is put in words.
fn missing(violation: &Violation) -> String {
    let description = &violation.description;
    match description.split_once(" is required: ") {
        Some((name, what)) if violation.rule == "required" => {
            format!("I need the {}: {what}", name.trim_matches('`').replace('_', " "))
        }
        _ => description.clone(),
    }
}

/// A text as one sentence, however it ends.
fn sentence(text: &str) -> String {
    let text = text.trim().trim_end_matches('.');
    if text.ends_with(['!', '?', '…']) { text.to_owned() } else { format!("{text}.") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_asked_for_in_words_for_people() {
        let violation = Violation {
            pointer: String::new(),
            rule: "required".to_owned(),
            description: "`stop_price` is required: What to record.".to_owned(),
        };
        let error = ToolError::invalid_arguments(vec![violation]);
        let asked = question([&error].into_iter());
        assert_eq!(asked, "I need the stop price: What to record. Can you say it differently?");
    }

    #[test]
    fn an_unknown_name_is_asked_for_with_those_that_are_known() {
        let error = ToolError::not_found("Unknown account 'X'. Known accounts: A, B.");
        assert!(may_help(&error) && !may_help(&ToolError::not_found("no quote for X")));
        let asked = question([&error].into_iter());
        assert_eq!(asked, "Unknown account 'X'. Known accounts: A, B. Can you say it differently?");
    }
}
