//! Refusals of jobs as gRPC statuses.

use tonic::Code;
use tonic_types::ErrorDetails;

use crate::refusal::JobRefusal;

pub(super) const fn code(refusal: &JobRefusal) -> Code {
    match refusal {
        // Jobs of others are unknown.
        JobRefusal::Unknown { .. } => Code::NotFound,
        // A retry may succeed once the other one has ended.
        JobRefusal::Running { .. } => Code::Aborted,
        JobRefusal::TooMany { .. } => Code::ResourceExhausted,
        JobRefusal::NoSuchEvent { .. } => Code::OutOfRange,
    }
}

pub(super) const fn reason(refusal: &JobRefusal) -> &'static str {
    match refusal {
        JobRefusal::Unknown { .. } => "UNKNOWN_JOB",
        JobRefusal::Running { .. } => "JOB_RUNNING",
        JobRefusal::TooMany { .. } => "TOO_MANY_JOBS",
        JobRefusal::NoSuchEvent { .. } => "NO_SUCH_EVENT",
    }
}

/// What the status says beside its message.
pub(super) fn details(refusal: &JobRefusal) -> ErrorDetails {
    match refusal {
        JobRefusal::Unknown { id: job_id } | JobRefusal::Running { job_id } => {
            ErrorDetails::with_resource_info("job", job_id, "", "")
        }
        JobRefusal::TooMany { retry_after } => ErrorDetails::with_retry_info(Some(*retry_after)),
        JobRefusal::NoSuchEvent { .. } => ErrorDetails::new(),
    }
}
