//! Outcomes of calls whose confirmations end unused, in texts for models and for people.

use super::{Confirmation, life::State};
use toolwire_contract::{ErrorCode, ToolError};

/// The prefix of the summary of a confirmation that replaces one of another definition.
pub const REDEFINED_PREFIX: &str = "The definition of this tool has changed since it was last asked. ";

/// The end of an unused confirmation.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    /// The outcome of its call. `None` if the call is to be made again, to request another confirmation.
    pub outcome: Option<ToolError>,
    /// Why it ended, for people.
    pub reason: String,
    /// The error for the task whose agent made the call.
    pub for_task: Option<ToolError>,
}

impl Ended {
    /// The end by a transition into a state, for the given reason if it was decided.
    pub fn of(confirmation: &Confirmation, state: State, reason: &str) -> Self {
        let outcome = confirmation.outcome_in(state, reason);
        match (state, outcome) {
            (State::Denied, outcome) => {
                Self { for_task: outcome.clone(), outcome, reason: reason.to_owned() }
            }
            (_, Some(error)) => {
                let reason = error.message.clone();
                Self { for_task: Some(error.clone()), outcome: Some(error), reason }
            }
            (state, None) => {
                let again = "The tool's definition has changed since this call was asked for. Call again, to ask again";
                let again = ToolError::new(ErrorCode::ConfirmationExpired, again);
                let for_task = (state == State::Voided).then_some(again);
                Self { outcome: None, reason: "The tool's definition changed".to_owned(), for_task }
            }
        }
    }
}

impl Confirmation {
    /// The outcome of the call in a state, for the given reason if it was decided. `None` if there is no outcome: the
    /// call can still begin, or is to be made again.
    pub fn outcome_in(&self, state: State, reason: &str) -> Option<ToolError> {
        let expired = |what: &str| {
            Some(ToolError::new(ErrorCode::ConfirmationExpired, format!("{what}, and nothing was done")))
        };
        match state {
            State::Denied => Some(ToolError::new(
                ErrorCode::ConfirmationDenied,
                format!("A person denied this call: {reason}"),
            )),
            State::Expired if self.state == State::Approved => {
                expired("This call was approved, but was not made again in time")
            }
            State::Expired => expired("This call was not decided on in time"),
            State::Withdrawn => Some(ToolError::cancelled()),
            State::Pending | State::Approved | State::Used | State::Voided => None,
        }
    }
}
