//! Texts of timelines that the store writes itself, for models and for people: the status of entries, and default
//! messages of ends.

use super::{Kind, Task, entry::Cause, life::State};
use crate::confirmations;
use toolwire_contract::{ConfirmationId, ErrorCode, ToolError, ToolName};
use toolwire_tool::context::{TaskId, UserId};

/// The status of a write with an unknown outcome.
pub const OUTCOME_UNKNOWN: &str = "→ outcome unknown";

/// The status of a call that was in flight when its task ended.
pub const UNDER_WAY: &str = "→ under way when the task ended";

/// The status of an outcome that arrived after the end of the task.
pub const AFTER_END: &str = "← ended after the task";

/// The status of an outcome that arrived after it was recorded as unknown.
pub const CAME_LATE: &str = "← resolved by its own outcome";

/// The message of a task that was cancelled because an ancestor ended.
pub const WITH_ITS_PARENT: &str = "The task that it belongs to ended";

/// The message of a task that timed out.
pub const TIMED_OUT: &str = "The task did not end before its deadline";

pub fn awaiting_confirmation(id: &ConfirmationId) -> String {
    format!("→ awaiting confirmation {id}")
}

pub fn awaiting_credentials(source: &str) -> String {
    format!("→ awaiting credentials for {source}")
}

pub fn started(task: &TaskId) -> String {
    format!("→ started (task {task})")
}

pub fn delegated(task: &TaskId) -> String {
    format!("→ delegated (task {task})")
}

/// `master` is the task that is asked; without one, a person is.
pub fn asked(master: Option<&TaskId>) -> String {
    format!("→ asked {}", master.map_or("a person", TaskId::as_str))
}

/// The status of an answer from a child or a question.
pub fn answer_from(child: &Task) -> String {
    match child.kind {
        Kind::Question => format!("← answer from {}", answerer(child)),
        Kind::Root | Kind::Agent => format!("← result from {}", child.id),
    }
}

pub fn authorized(user: &UserId) -> String {
    format!("← authorized by {user}: call again")
}

pub fn resolved(user: &UserId, reason: &str) -> String {
    format!("← resolved by {user}: {reason}")
}

/// The status of the decision on a call.
pub fn decided(state: confirmations::life::State, decider: Option<&UserId>, tool: &ToolName) -> String {
    use confirmations::life::State;
    let decider = decider.map_or("a person", UserId::as_str);
    match state {
        State::Pending | State::Approved | State::Used => format!("← confirmed by {decider}"),
        State::Denied => format!("← denied by {decider}"),
        State::Expired => "← not confirmed in time".to_owned(),
        State::Voided => format!("← confirmation void: the definition of {tool} has changed"),
        State::Withdrawn => "← confirmation withdrawn: the call was cancelled".to_owned(),
    }
}

/// The error that a parent receives from a failed child.
pub fn child_failed(child: &Task) -> Option<ToolError> {
    (child.state == State::Failed).then(|| {
        let error = ToolError::new(ErrorCode::Unknown, format!("The task failed: {}", child.message));
        ToolError { retryable: false, ..error }
    })
}

/// The outcome of a call that, as a person found, was not executed.
pub fn not_carried_out(reason: &str) -> ToolError {
    ToolError::new(ErrorCode::Cancelled, format!("The call was not carried out: {reason}"))
}

/// The message that informs a master of a question and its answer.
pub fn question_and_answer(question: &Task, asker: &TaskId, answer: &str) -> String {
    format!("Question from {asker}: {}\n\nAnswer from {}: {answer}", question.request, answerer(question))
}

fn answerer(question: &Task) -> &str {
    match (&question.master, question.cause) {
        (Some((master, _)), cause) if cause != Some(Cause::Answered) => master.as_str(),
        _ => "a person",
    }
}
