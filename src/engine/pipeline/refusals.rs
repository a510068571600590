//! Errors of the store as refusals of a request.

use std::time::{Duration, SystemTime};

use toolwire_base::clock;
use toolwire_contract::{DocumentRefusal, Refusal, TaskRefusal, Violation};
use toolwire_state::{
    idempotency::Bound,
    tasks::{Refused, TaskError},
};
use toolwire_tool::context::TaskId;

/// The delay after which a caller may retry when the store has failed.
const UNAVAILABLE_RETRY_AFTER: Duration = Duration::from_secs(5);

/// The store cannot be used. The cause is in the log only, for operators.
pub(super) fn unavailable() -> Refusal {
    Refusal::StateUnavailable { retry_after: UNAVAILABLE_RETRY_AFTER }
}

/// The quota of record bytes is exhausted; space is free again at `until`.
pub(super) fn full(until: SystemTime, bound: Bound) -> Refusal {
    let retry_after = until.duration_since(clock::wall()).unwrap_or_default();
    match bound {
        Bound::User => Refusal::TooManyRequestIds { retry_after },
        Bound::All => Refusal::TooManyRequestIdsInAll { retry_after },
    }
}

/// The refusal for an error of the task store. Errors of the database itself are logged here.
pub fn task_refusal(id: &TaskId, error: TaskError) -> Refusal {
    let refused = match error {
        TaskError::Refused(refused) => refused,
        TaskError::Store(error) => {
            tracing::error!(%error, task_id = %id, "tasks cannot be read or written");
            return unavailable();
        }
    };
    let (id, what) = (id.to_string(), refused.to_string());
    let refusal = match refused {
        Refused::RequestIdReused(request_id) => {
            return Refusal::RequestIdReused { request_id: request_id.to_string() };
        }
        Refused::Full { until, bound } => return full(until, bound),
        Refused::Unknown => TaskRefusal::Unknown { id },
        Refused::Ended(_) => TaskRefusal::Ended { what },
        Refused::Blocked { .. } => TaskRefusal::Blocked { what },
        Refused::NotNow(_) => TaskRefusal::NotBegun { what },
        Refused::LeaseLost { .. } => TaskRefusal::LeaseLost { what },
        Refused::TreeLimit(_) => TaskRefusal::TreeLimit { what },
        Refused::TimelineFull => TaskRefusal::TimelineFull,
        Refused::NotAQuestion => TaskRefusal::NotAQuestion { id },
        Refused::AlreadyAnswered => TaskRefusal::AlreadyAnswered,
        Refused::NoSuchDocument { path, near } => return DocumentRefusal::Unknown { path, near }.into(),
        Refused::NotARoot => TaskRefusal::NotARoot { id },
        Refused::NotEnded(_) => TaskRefusal::NotEnded { what },
        Refused::AlreadyResolved(_) => TaskRefusal::AlreadyResolved { what },
        Refused::StepOver { newest, .. } => return step_over(newest),
        Refused::UnknownCall => TaskRefusal::UnknownCall,
    };
    refusal.into()
}

fn step_over(newest: u64) -> Refusal {
    Refusal::InvalidRequest(vec![Violation {
        pointer: "step".to_owned(),
        rule: "minimum".to_owned(),
        description: format!(
            "step must be at least {newest}, the newest step of the task: a model's new response has a step of its own, \
             and what was shown of earlier ones stays"
        ),
    }])
}
