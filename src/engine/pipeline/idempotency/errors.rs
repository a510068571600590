//! The errors of a call that needs a record: refusals, and an outcome that is not known.

use std::time::SystemTime;

use toolwire_base::clock;
use toolwire_contract::{Crowding, ErrorCode, Refusal, ToolError, Violation};

pub(super) fn request_id_required() -> Refusal {
    Refusal::InvalidRequest(vec![Violation {
        pointer: "request_id".to_owned(),
        rule: "required".to_owned(),
        description:
            "request_id is required for a tool that does not only read: send a new UUID, and the same one \
                      again when you repeat the call"
                .to_owned(),
    }])
}

pub(super) fn outcome_unknown() -> ToolError {
    ToolError::new(
        ErrorCode::OutcomeUnknown,
        "The write was started and its outcome is not known yet. Call again with the same request_id to learn it; \
         nothing will be done twice.",
    )
}

/// The owner of the write may still be running, or may have stopped during the write.
pub(super) fn remote_outcome() -> ToolError {
    ToolError::new(
        ErrorCode::OutcomeUnknown,
        "The write was started under this request_id, and this server does not carry it out: it may have stopped while \
         it did, or another one does. Call again with the same request_id to learn which; nothing will be done twice.",
    )
}

/// The write has no owner any more, and its outcome cannot be determined. Not retryable.
pub(super) fn outcome_lost() -> ToolError {
    let error = ToolError::new(
        ErrorCode::OutcomeUnknown,
        "The write was started under this request_id and how it ended is not known: the server may have stopped while \
         it ran. Look at what it was to change, then decide whether to write again under a new request_id.",
    );
    ToolError { retryable: false, ..error }
}

/// A limit on confirmations, by number or bytes, is reached; there is room again at the given time.
pub(super) fn too_many_confirmations(until: SystemTime, crowding: Crowding, own: bool) -> Refusal {
    let retry_after = until.duration_since(clock::wall()).unwrap_or_default();
    Refusal::TooManyConfirmations { crowding, retry_after, own }
}
