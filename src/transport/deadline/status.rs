//! The status of a call whose deadline has passed.

use tonic::Status;

use toolwire_contract::Refusal;

/// `DEADLINE_EXCEEDED`. It names no tool, since the call may not have reached one.
pub(super) fn deadline_exceeded() -> Status {
    Refusal::DeadlineExceeded.into()
}
