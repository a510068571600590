//! How work on a task comes to an end.

use toolwire_contract::{Refusal, TaskRefusal};

/// How work on a task came to an end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ended {
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
pub(super) fn busy(refusal: Refusal) -> Result<Ended, Refusal> {
    match refusal {
        Refusal::Task(TaskRefusal::LeaseLost { .. }) => Ok(Ended::Busy),
        Refusal::Task(TaskRefusal::Ended { .. }) => Ok(Ended::Over),
        Refusal::Task(TaskRefusal::Blocked { .. }) => Ok(Ended::Blocked),
        Refusal::Task(TaskRefusal::TimelineFull | TaskRefusal::BudgetTooSmall { .. }) => {
            Ok(Ended::Failed(refusal.to_string()))
        }
        other => Err(other),
    }
}
