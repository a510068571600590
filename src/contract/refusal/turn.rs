//! Refusals of turns: a turn that cannot begin, or was not carried out to its end.

use std::time::Duration;

/// Why a turn does not begin, or was not carried out to its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TurnRefusal {
    /// The user has no turn of this name.
    #[error("no turn {id} of yours")]
    Unknown {
        /// The name asked for.
        id: String,
    },
    /// Another turn of the session runs.
    #[error("the turn {turn_id} of this session is running: wait for its end, or cancel it")]
    Running { turn_id: String },
    #[error(
        "the turn {turn_id} of this session waits for a person: resume it once that is decided, or cancel it"
    )]
    Paused { turn_id: String },
    #[error("the turn {turn_id} is {state}; only a paused one can be resumed")]
    NotPaused { turn_id: String, state: &'static str },
    /// Too many turns run.
    #[error("too many turns are running{}; try again in {} s", if *own { " for you" } else { "" }, .retry_after.as_secs())]
    TooMany {
        /// Whether they are the user's own.
        own: bool,
        /// When room is expected.
        retry_after: Duration,
    },
    /// A model would have to be asked, and none is configured.
    #[error(
        "this asks a language model, and none is configured: set agent.model to the name of one of [models]"
    )]
    NoModel,
    #[error("the turn was cancelled")]
    Cancelled,
}
