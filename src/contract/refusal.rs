//! Refusals: failures of a call itself, which become a gRPC status (`status`).
//!
//! Not here: failures of a tool, which are results (`error`).

mod document;
mod job;
mod task;
mod turn;

use std::time::Duration;

pub use self::{document::DocumentRefusal, job::JobRefusal, task::TaskRefusal, turn::TurnRefusal};
use super::{Violation, near};

/// Why a call was not carried out.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// The request itself is malformed.
    #[error("invalid request: {}", .0.iter().map(|v| v.description.as_str()).collect::<Vec<_>>().join("; "))]
    InvalidRequest(Vec<Violation>),
    /// No tool of this name that the user may call.
    #[error("Unknown tool: {name}{}", near::question(.near))]
    UnknownTool {
        name: String,
        /// Near names that the user may call.
        near: Vec<String>,
    },
    /// A provider that may own a tool of this name has not offered its tools since the server started, a moment ago.
    #[error("{name} is not known yet: {provider}, which may own it, has not offered its tools since the server \
             started; try again in {} s", .retry_after.as_secs())]
    ToolAwaited { name: String, provider: String, retry_after: Duration },
    /// No such intent. Clients compare the first words.
    #[error("Unknown intent: {intent}{}", near::question(.near))]
    UnknownIntent {
        intent: String,
        /// Near intents that the user may use.
        near: Vec<String>,
    },
    /// The user may not call the tool.
    #[error("not allowed to call {tool}; ask an operator for access")]
    PermissionDenied { tool: String },
    /// The user may call the tool by a token of more scope.
    #[error("the token has too little scope to call {tool}; sign in for one with: {scope}")]
    InsufficientScope {
        tool: String,
        /// The scopes to request, separated by spaces.
        scope: String,
    },
    /// The token of the user ended while the call waited for a person.
    #[error(
        "the token has expired while the call waited for approval, and nothing was done; call again with a new one"
    )]
    TokenExpired,
    #[error("{tool} is disabled: {reason}")]
    ToolDisabled {
        tool: String,
        /// Why it is disabled.
        reason: String,
    },
    /// A `request_id` was used before with other arguments.
    #[error("request_id {request_id} was used before with other arguments; use a new one")]
    RequestIdReused { request_id: String },
    /// The user's quota of remembered `request_id`s is used up.
    #[error(
        "your writes of the last 24 h take all the room there is for remembering them; the oldest is forgotten in {} s",
        .retry_after.as_secs()
    )]
    TooManyRequestIds {
        /// When the oldest of them is forgotten.
        retry_after: Duration,
    },
    /// The quota of remembered `request_id`s of all users is used up, and the user has more than a fair share of it.
    #[error(
        "the writes of all users in the last 24 h take the room there is for remembering them, and yours more than a fair \
         share of it; room is expected in {} s",
        .retry_after.as_secs()
    )]
    TooManyRequestIdsInAll {
        /// When enough of them are forgotten.
        retry_after: Duration,
    },
    /// A quota of the user's calls is used up. Nothing was begun.
    #[error("your quota of {quota} is used up; call again in {} s", .retry_after.as_secs_f64().ceil())]
    QuotaExhausted {
        user: String,
        /// In words, such as `10 calls in 1m`.
        quota: String,
        retry_after: Duration,
    },
    /// Too many confirmations are open: no other is requested.
    #[error("{}", crowding.words(*.own, *.retry_after))]
    TooManyConfirmations {
        /// The quota that is used up.
        crowding: Crowding,
        /// When room is expected.
        retry_after: Duration,
        /// Whether they are the user's own.
        own: bool,
    },
    /// No confirmation of this name that the user may see.
    #[error("no confirmation {id} of yours, nor one that you may decide on")]
    UnknownConfirmation {
        /// The name asked for.
        id: String,
    },
    /// No call of this name that the user may see.
    #[error("no call {id} of yours is known: it never was, or its outcome is kept no longer")]
    UnknownCall {
        /// The name asked for.
        id: String,
    },
    /// The user may not decide on a confirmation.
    #[error("{why}")]
    MayNotDecide {
        /// Why not, for the person.
        why: String,
    },
    /// A confirmation was decided otherwise, or is over.
    #[error("{what}")]
    ConfirmationDecided {
        /// State, decider and time, in words.
        what: String,
    },
    /// The position from which a watch is to continue does not exist, or is no longer kept.
    #[error("after_sequence must be from {first} to {last}, or 0 to begin with what is open")]
    NoSuchSequence {
        /// The first that a watch can go on from.
        first: u64,
        last: u64,
    },
    /// The tool's definition is not the one that the caller expects.
    #[error("the definition of {tool} is another than expected_digest says; read it again with GetTool")]
    DefinitionChanged { tool: String },
    /// The state cannot be written before a call begins, or cannot be read for a query. Nothing was done.
    #[error("the state cannot be read or written now, and nothing was done; try again in {} s", .retry_after.as_secs_f64())]
    StateUnavailable {
        /// When to try again.
        retry_after: Duration,
    },
    /// A document was not read or written.
    #[error(transparent)]
    Document(#[from] DocumentRefusal),
    /// A job does not begin, or is not shown.
    #[error(transparent)]
    Job(#[from] JobRefusal),
    /// Something is not done to a task.
    #[error(transparent)]
    Task(#[from] TaskRefusal),
    /// A turn does not begin, or was not carried out to its end.
    #[error(transparent)]
    Turn(#[from] TurnRefusal),
    /// The call's deadline passed.
    #[error("the deadline passed before the call ended")]
    DeadlineExceeded,
    /// The caller went away.
    #[error("the caller went away")]
    CallerGone,
    /// The service is shutting down and its grace is over.
    #[error("the server is shutting down; call again")]
    ShuttingDown,
    /// A bug of the service; the operator finds it in the log by `call_id`.
    #[error("internal error; quote call_id {call_id} to the operator")]
    Internal { call_id: String },
}

/// The quota that another confirmation would exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crowding {
    Pending,
    /// What is kept of confirmations, in bytes.
    Kept,
}

impl Crowding {
    fn words(self, own: bool, retry_after: Duration) -> String {
        let seconds = retry_after.as_secs();
        match self {
            Self::Pending => {
                let whose = if own { "too many of your" } else { "too many" };
                format!(
                    "{whose} confirmations are waiting for a person: have some decided, or wait {seconds} s until the \
                     oldest expires"
                )
            }
            Self::Kept => {
                let whose = if own { "your confirmations" } else { "the confirmations of all users" };
                format!(
                    "what is kept of {whose} takes all the room there is for it; room is expected in {seconds} s"
                )
            }
        }
    }
}
