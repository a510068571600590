//! Refusals of turns as gRPC statuses.

use tonic::Code;
use tonic_types::ErrorDetails;

use crate::refusal::TurnRefusal;

pub(super) const fn code(refusal: &TurnRefusal) -> Code {
    match refusal {
        // Turns of others are unknown.
        TurnRefusal::Unknown { .. } => Code::NotFound,
        // A retry may succeed once the other one has ended.
        TurnRefusal::Running { .. } => Code::Aborted,
        // A person, the client that resumes or cancels the turn, or an operator who configures a model, must act first.
        TurnRefusal::Paused { .. } | TurnRefusal::NotPaused { .. } | TurnRefusal::NoModel => {
            Code::FailedPrecondition
        }
        TurnRefusal::TooMany { .. } => Code::ResourceExhausted,
        TurnRefusal::Cancelled => Code::Cancelled,
    }
}

pub(super) const fn reason(refusal: &TurnRefusal) -> &'static str {
    match refusal {
        TurnRefusal::Unknown { .. } => "UNKNOWN_TURN",
        TurnRefusal::Running { .. } => "TURN_RUNNING",
        TurnRefusal::Paused { .. } => "TURN_PAUSED",
        TurnRefusal::NotPaused { .. } => "TURN_NOT_PAUSED",
        TurnRefusal::TooMany { .. } => "TOO_MANY_TURNS",
        TurnRefusal::NoModel => "NO_MODEL",
        TurnRefusal::Cancelled => "TURN_CANCELLED",
    }
}

/// What the status says beside its message.
pub(super) fn details(refusal: &TurnRefusal) -> ErrorDetails {
    match refusal {
        TurnRefusal::Unknown { id: turn_id }
        | TurnRefusal::Running { turn_id }
        | TurnRefusal::Paused { turn_id }
        | TurnRefusal::NotPaused { turn_id, .. } => ErrorDetails::with_resource_info("turn", turn_id, "", ""),
        TurnRefusal::TooMany { retry_after, .. } => ErrorDetails::with_retry_info(Some(*retry_after)),
        TurnRefusal::NoModel | TurnRefusal::Cancelled => ErrorDetails::new(),
    }
}
