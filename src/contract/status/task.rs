//! Refusals of tasks as gRPC statuses.

use tonic::Code;
use tonic_types::ErrorDetails;

use crate::refusal::TaskRefusal;

pub(super) const fn code(refusal: &TaskRefusal) -> Code {
    match refusal {
        // Tasks of others are unknown.
        TaskRefusal::Unknown { .. } => Code::NotFound,
        // Reading the task tells what to do first.
        TaskRefusal::Ended { .. }
        | TaskRefusal::Blocked { .. }
        | TaskRefusal::NotBegun { .. }
        | TaskRefusal::NotEnded { .. }
        | TaskRefusal::RootInsideTask { .. }
        | TaskRefusal::NotAQuestion { .. }
        | TaskRefusal::AlreadyAnswered
        | TaskRefusal::AlreadyResolved { .. }
        | TaskRefusal::NotARoot { .. }
        | TaskRefusal::UnknownCall => Code::FailedPrecondition,
        // Another worker was quicker: begin again from the timeline.
        TaskRefusal::LeaseLost { .. } => Code::Aborted,
        TaskRefusal::TreeLimit { .. } | TaskRefusal::TimelineFull | TaskRefusal::BudgetTooSmall { .. } => {
            Code::ResourceExhausted
        }
        TaskRefusal::NoSuchEntry { .. } | TaskRefusal::NoSuchPosition { .. } => Code::OutOfRange,
    }
}

pub(super) const fn reason(refusal: &TaskRefusal) -> &'static str {
    match refusal {
        TaskRefusal::Unknown { .. } => "UNKNOWN_TASK",
        TaskRefusal::Ended { .. } => "TASK_ENDED",
        TaskRefusal::Blocked { .. } => "TASK_BLOCKED",
        TaskRefusal::NotBegun { .. } => "TASK_NOT_BEGUN",
        TaskRefusal::NotEnded { .. } => "TASK_NOT_ENDED",
        TaskRefusal::LeaseLost { .. } => "LEASE_LOST",
        TaskRefusal::TreeLimit { .. } => "TREE_LIMIT",
        TaskRefusal::TimelineFull => "TIMELINE_FULL",
        TaskRefusal::RootInsideTask { .. } => "ROOT_INSIDE_TASK",
        TaskRefusal::NotAQuestion { .. } => "NOT_A_QUESTION",
        TaskRefusal::AlreadyAnswered => "ALREADY_ANSWERED",
        TaskRefusal::AlreadyResolved { .. } => "ALREADY_RESOLVED",
        TaskRefusal::NotARoot { .. } => "NOT_A_ROOT",
        TaskRefusal::UnknownCall => "UNKNOWN_CALL",
        TaskRefusal::NoSuchEntry { .. } => "NO_SUCH_ENTRY",
        TaskRefusal::NoSuchPosition { .. } => "NO_SUCH_POSITION",
        TaskRefusal::BudgetTooSmall { .. } => "BUDGET_TOO_SMALL",
    }
}

/// What the status says beside its message.
pub(super) fn details(refusal: &TaskRefusal) -> ErrorDetails {
    match refusal {
        TaskRefusal::Unknown { id } | TaskRefusal::NotAQuestion { id } | TaskRefusal::NotARoot { id } => {
            ErrorDetails::with_resource_info("task", id, "", "")
        }
        _ => ErrorDetails::new(),
    }
}
