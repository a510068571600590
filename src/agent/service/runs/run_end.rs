//! The ends of work on a task.

use toolwire_contract::{Refusal, TaskRefusal};

/// The end of the work on a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RunEnd {
    Blocked,
    Over,
    /// Another worker has it.
    Busy,
    /// There is no budget for more.
    Spent,
    /// The model failed; why.
    Failed(String),
}

/// The end of the work after a refusal that is no failure of the server: another worker has the lease, the task ended
/// in the meantime, or the model's work does not fit.
pub(super) fn end_of_refusal(refusal: Refusal) -> Result<RunEnd, Refusal> {
    match refusal {
        Refusal::Task(TaskRefusal::LeaseLost { .. }) => Ok(RunEnd::Busy),
        Refusal::Task(TaskRefusal::Ended { .. }) => Ok(RunEnd::Over),
        Refusal::Task(TaskRefusal::Blocked { .. }) => Ok(RunEnd::Blocked),
        Refusal::Task(TaskRefusal::TimelineFull | TaskRefusal::BudgetTooSmall { .. }) => {
            Ok(RunEnd::Failed(refusal.to_string()))
        }
        other => Err(other),
    }
}
