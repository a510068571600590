//! The answer to a call whose deadline has passed.

use tonic::Status;

use toolwire_contract::Refusal;

/// `DEADLINE_EXCEEDED`, which names no tool: the call may not have exceeded one.
pub(super) fn exceeded() -> Status {
    Refusal::DeadlineExceeded.into()
}
