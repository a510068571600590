//! Errors of task operations. An operation that is refused has changed nothing.

use std::time::SystemTime;

use super::{bounds, life::State, task::Waiting};
use crate::idempotency::Bound;
use toolwire_db::StoreError;
use toolwire_tool::context::RequestId;

/// An error of a task operation.
#[derive(Clone, Debug, thiserror::Error)]
pub enum TaskError {
    /// The operation is not allowed.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why an operation is not allowed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Refused {
    /// The user has no such task.
    #[error("there is no such task")]
    Unknown,
    #[error("the task has ended: it is {}", .0.into_str())]
    Ended(State),
    #[error("the task is {}: it waits for {}", .state.into_str(), format_waits(.waits))]
    Blocked { state: State, waits: Vec<Waiting> },
    /// The state does not allow the operation.
    #[error("the task is {}", .0.into_str())]
    NotNow(State),
    /// Another worker holds the lease.
    #[error("the task is leased to {holder:?}, with the token {token}")]
    LeaseLost {
        /// The holder of the lease. Empty if it has expired.
        holder: String,
        token: u64,
    },
    /// A limit of the tree is reached.
    #[error("{0}")]
    TreeLimit(TreeLimit),
    /// The remaining entries of the timeline are reserved for its end.
    #[error("the timeline of the task is full: end the task, or hand it off")]
    TimelineFull,
    #[error("the task is not a question")]
    NotAQuestion,
    #[error("the question was answered before, with another answer")]
    AlreadyAnswered,
    /// The workspace has no such document.
    #[error("there is no document {path:?} in the workspace{}", format_near(.near))]
    NoSuchDocument { path: String, near: Vec<String> },
    /// The step is over: accepting the call would change what the model was shown of it.
    #[error("step {step} is over: the newest is {newest}")]
    StepOver {
        /// The step that the caller stated.
        step: u64,
        newest: u64,
    },
    /// The `request_id` was used before with other content.
    #[error("request_id {0} was used before with other content; use a new one")]
    RequestIdReused(RequestId),
    #[error("the task is not the root of its tree")]
    NotARoot,
    #[error("the task has not ended: it is {}", .0.into_str())]
    NotEnded(State),
    /// The call was resolved before with another outcome.
    #[error("it was resolved before, otherwise: {0}")]
    AlreadyResolved(String),
    /// The task has no such call with an unknown outcome.
    #[error("no such call of the task has an unknown end")]
    UnknownCall,
    /// The quota of call records is exhausted.
    #[error("there is no room for the record of another call")]
    Full {
        /// When enough records will have expired.
        until: SystemTime,
        bound: Bound,
    },
}

/// The limit of a tree that is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TreeLimit {
    /// Nested tasks.
    #[error("no more than {} tasks may stand above another", bounds::MAX_DEPTH)]
    Depth,
    /// Concurrent waits of one task.
    #[error("a task waits for no more than {} things at once", bounds::MAX_WAITS)]
    Waits,
    #[error("a tree has no more than {} tasks", bounds::MAX_TASKS)]
    Tasks,
    /// Bytes of the timelines of a tree.
    #[error("the timelines of a tree have no more than {} bytes", bounds::MAX_TREE_BYTES)]
    Bytes,
    /// Bytes of all timelines of a user.
    #[error(
        "the timelines of a user have no more than {} bytes, those of trees that have ended among them; delete some of those",
        bounds::MAX_USER_BYTES
    )]
    BytesOfUser,
    #[error("a user has no more than {} trees that have not ended", bounds::MAX_OPEN_TREES)]
    OpenTrees,
}

fn format_waits(waits: &[Waiting]) -> String {
    waits.iter().map(|wait| wait.target.to_string()).collect::<Vec<_>>().join(", ")
}

fn format_near(paths: &[String]) -> String {
    match paths {
        [] => String::new(),
        paths => format!("; near ones are {}", paths.join(", ")),
    }
}
