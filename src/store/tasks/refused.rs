//! Why something is not done to a task. Nothing was changed then.

use std::time::SystemTime;

use super::{bounds, life::State, task::Waiting};
use crate::{StoreError, idempotency::Bound};
use toolwire_tool::context::RequestId;

/// Why something did not succeed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum TaskError {
    /// It is not allowed.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// It cannot be stored or read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why something is not allowed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Refused {
    /// The user has no such task.
    #[error("there is no such task")]
    Unknown,
    #[error("the task has ended: it is {}", .0.into_str())]
    Ended(State),
    #[error("the task is {}: it waits for {}", .state.into_str(), in_words(.waits))]
    Blocked { state: State, waits: Vec<Waiting> },
    /// It has not begun.
    #[error("the task is {}", .0.into_str())]
    NotNow(State),
    /// Another worker has it.
    #[error("the task is leased to {holder:?}, with the token {token}")]
    LeaseLost {
        /// The holder of the lease. Empty if it has expired.
        holder: String,
        token: u64,
    },
    /// The graph has no room.
    #[error("{0}")]
    TreeLimit(TreeLimit),
    /// The timeline has no room but for its end.
    #[error("the timeline of the task is full: end the task, or hand it off")]
    TimelineFull,
    /// It is not a question.
    #[error("the task is not a question")]
    NotAQuestion,
    /// Another answer was given.
    #[error("the question was answered before, with another answer")]
    AlreadyAnswered,
    /// A document is not in the workspace.
    #[error("there is no document {path:?} in the workspace{}", near_ones(.near))]
    NoSuchDocument { path: String, near: Vec<String> },
    /// The step is over: what the model was shown of it would change.
    #[error("step {step} is over: the newest is {newest}")]
    StepOver {
        /// The one that was said.
        step: u64,
        newest: u64,
    },
    /// The identifier was used before with other content.
    #[error("request_id {0} was used before with other content; use a new one")]
    RequestIdReused(RequestId),
    /// It is not the root of a tree.
    #[error("the task is not the root of its tree")]
    NotARoot,
    /// It has not ended.
    #[error("the task has not ended: it is {}", .0.into_str())]
    NotEnded(State),
    /// A person said otherwise of this call before.
    #[error("it was resolved before, otherwise: {0}")]
    AlreadyResolved(String),
    /// The task does not wait for such a call.
    #[error("no such call of the task has an unknown end")]
    UnknownCall,
    /// The user's calls leave no room for another record.
    #[error("there is no room for the record of another call")]
    Full {
        /// When room is expected.
        until: SystemTime,
        bound: Bound,
    },
}

/// Which bound of the graph is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TreeLimit {
    /// Tasks above each other.
    #[error("no more than {} tasks may stand above another", bounds::MAX_DEPTH)]
    Depth,
    /// Things that one task waits for.
    #[error("a task waits for no more than {} things at once", bounds::MAX_WAITS)]
    Waits,
    #[error("a tree has no more than {} tasks", bounds::MAX_TASKS)]
    Tasks,
    /// Bytes of a tree's timelines.
    #[error("the timelines of a tree have no more than {} bytes", bounds::MAX_TREE_BYTES)]
    Bytes,
    /// Bytes of all of a user's timelines.
    #[error(
        "the timelines of a user have no more than {} bytes, those of trees that have ended among them; delete some of those",
        bounds::MAX_USER_BYTES
    )]
    BytesOfUser,
    #[error("a user has no more than {} trees that have not ended", bounds::MAX_OPEN_TREES)]
    OpenTrees,
}

fn in_words(waits: &[Waiting]) -> String {
    waits.iter().map(|wait| wait.target.to_string()).collect::<Vec<_>>().join(", ")
}

fn near_ones(paths: &[String]) -> String {
    match paths {
        [] => String::new(),
        paths => format!("; near ones are {}", paths.join(", ")),
    }
}
