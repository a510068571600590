//! The reaction of a cycle to a failed call, by its error code, as one table.

use toolwire_contract::{ErrorCode, proto::agent::v1::CallAction};

/// The reaction of a cycle to a call that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnError {
    /// No more calls: the source refuses us, and each further request makes it worse.
    Stop,
    /// One retry, then on without it. The retry has the same identifier, so that a write is not done twice.
    Again,
    /// On without it: another tool may have the data.
    Skip,
    /// On without it: the answer says what was not found.
    Without,
    /// The planner corrects it: a model by the violations; without a model the user is asked.
    Correct,
    /// On without it: no person approved it, and it is never asked for again.
    Denied,
}

pub const fn on_error(code: ErrorCode) -> OnError {
    match code {
        ErrorCode::AuthFailed | ErrorCode::Blocked => OnError::Stop,
        ErrorCode::Timeout | ErrorCode::OutcomeUnknown => OnError::Again,
        ErrorCode::RateLimited
        | ErrorCode::Unavailable
        | ErrorCode::ParseError
        | ErrorCode::Unknown
        | ErrorCode::ResultTooLarge
        | ErrorCode::PermissionDenied
        | ErrorCode::Conflict
        | ErrorCode::Cancelled => OnError::Skip,
        ErrorCode::NotFound => OnError::Without,
        ErrorCode::InvalidArgument => OnError::Correct,
        ErrorCode::ConfirmationDenied | ErrorCode::ConfirmationExpired => OnError::Denied,
    }
}

/// The action reported for a call that failed; `is_last`: it is not retried.
pub const fn action(code: ErrorCode, is_last: bool) -> CallAction {
    match on_error(code) {
        OnError::Stop => CallAction::Stopped,
        OnError::Again if !is_last => CallAction::Retried,
        OnError::Again | OnError::Skip | OnError::Without | OnError::Correct | OnError::Denied => {
            CallAction::Skipped
        }
    }
}

#[cfg(test)]
mod tests {
    use strum::VariantArray as _;

    use super::*;

    #[test]
    fn only_what_may_have_been_lost_is_asked_for_again_and_only_refusing_sources_stop_a_cycle() {
        let with = |wanted| ErrorCode::VARIANTS.iter().copied().filter(move |code| on_error(*code) == wanted);
        assert_eq!(with(OnError::Again).collect::<Vec<_>>(), [ErrorCode::Timeout, ErrorCode::OutcomeUnknown]);
        assert_eq!(with(OnError::Stop).collect::<Vec<_>>(), [ErrorCode::AuthFailed, ErrorCode::Blocked]);
        for code in ErrorCode::VARIANTS {
            assert_ne!(action(*code, true), CallAction::Retried, "{code:?}");
        }
        assert_eq!(action(ErrorCode::Timeout, false), CallAction::Retried);
    }
}
