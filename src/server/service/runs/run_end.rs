//! The ends of work on a task.

use toolwire_contract::{Refusal, TaskRefusal};

/// How work on a task came to an end.
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

/// What another worker's lease, or an end that came meanwhile, makes of this work: no failure of it.
pub(super) fn busy(refusal: Refusal) -> Result<RunEnd, Refusal> {
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
