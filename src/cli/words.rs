//! The specifications' words for the values of the envelope: `read`, `RATE_LIMITED`.

use toolwire_contract::proto::{tasks::v1 as tasks, v1};

/// `read`, `write`, `delete`, `side_effect`.
pub(super) fn category(category: v1::ToolCategory) -> String {
    bare(category.as_str_name(), "TOOL_CATEGORY_").to_lowercase()
}

/// `low`, `medium`, `high`.
pub(super) fn consequence(level: v1::ConsequenceLevel) -> String {
    bare(level.as_str_name(), "CONSEQUENCE_LEVEL_").to_lowercase()
}

/// `ready`, `degraded`, `disabled`.
pub(super) fn state(state: v1::ToolState) -> String {
    bare(state.as_str_name(), "TOOL_STATE_").to_lowercase()
}

/// `pending`, `approved` and so on.
pub(super) fn confirmation_state(state: v1::ConfirmationState) -> String {
    bare(state.as_str_name(), "CONFIRMATION_STATE_").to_lowercase()
}

/// `pending`, `blocked` and so on.
pub(super) fn task_state(state: tasks::TaskState) -> String {
    bare(state.as_str_name(), "TASK_STATE_").to_lowercase()
}

/// `child`, `question` and so on.
pub(super) fn block_reason(reason: tasks::BlockReason) -> String {
    bare(reason.as_str_name(), "BLOCK_REASON_").to_lowercase().replace('_', " ")
}

/// The cause of a confirmation, in words.
pub(super) const fn cause(cause: v1::ConfirmationCause) -> &'static str {
    match cause {
        v1::ConfirmationCause::Manifest => "the tool's manifest",
        v1::ConfirmationCause::Condition => "a condition on the arguments",
        v1::ConfirmationCause::Rule => "a rule of the operator's",
        v1::ConfirmationCause::Tainted => "what a model has read from outside",
        v1::ConfirmationCause::Caller => "the caller",
        v1::ConfirmationCause::Unspecified => "",
    }
}

/// `RATE_LIMITED` and so on.
pub(super) fn error_code(code: v1::ToolErrorCode) -> &'static str {
    bare(code.as_str_name(), "TOOL_ERROR_CODE_")
}

/// The code of a job's failure. A deadline is the same end as a tool's time-out for a person, and has its word.
pub(super) fn job_code(code: &str) -> &str {
    if code == "DEADLINE_EXCEEDED" { error_code(v1::ToolErrorCode::Timeout) } else { code }
}

fn bare(name: &'static str, prefix: &str) -> &'static str {
    name.strip_prefix(prefix).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_the_specifications() {
        assert_eq!(category(v1::ToolCategory::SideEffect), "side_effect");
        assert_eq!(consequence(v1::ConsequenceLevel::High), "high");
        assert_eq!(error_code(v1::ToolErrorCode::RateLimited), "RATE_LIMITED");
    }
}
