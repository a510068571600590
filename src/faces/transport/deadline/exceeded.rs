//! The answer to a call whose deadline has passed.

use tonic::{Code, Status};

use crate::contract::status;

/// `DEADLINE_EXCEEDED`, which names no tool: the call may not have reached one.
pub(super) fn exceeded() -> Status {
    let message = "the call's deadline passed before it was finished";
    status::plain(Code::DeadlineExceeded, "DEADLINE_EXCEEDED", message)
}
