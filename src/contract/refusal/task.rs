//! Refusals of requests about tasks. Nothing was changed.

/// Why a task is not changed, or not shown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TaskRefusal {
    /// The user has no task of this name.
    #[error("no task {id} of yours")]
    Unknown {
        /// The name asked for.
        id: String,
    },
    /// The task has ended.
    #[error("{what}; nothing more is taken for it")]
    Ended {
        /// The state, in words.
        what: String,
    },
    /// The task waits for something.
    #[error("{what}; calls are taken again once that is over, and until then those of the same step")]
    Blocked {
        /// The state and what it waits for, in words.
        what: String,
    },
    #[error("{what}: lease it, or make a call for it, and then end it")]
    NotBegun {
        /// The state, in words.
        what: String,
    },
    /// The task has not ended.
    #[error("{what}: only what has ended is deleted; cancel it first")]
    NotEnded {
        /// The state, in words.
        what: String,
    },
    /// Another worker has the lease of the task.
    #[error("{what}; lease it before you go on")]
    LeaseLost {
        /// The current holder, in words.
        what: String,
    },
    /// The tree of tasks has reached a bound.
    #[error("{what}")]
    TreeLimit {
        /// The bound, in words.
        what: String,
    },
    /// The timeline is full, but for the entry of its end.
    #[error("the timeline of the task is full: end the task, or hand it off")]
    TimelineFull,
    /// A task cannot begin a tree.
    #[error("{tool} begins a new tree, and this call is made within a task: agents delegate, people begin")]
    RootInsideTask { tool: String },
    #[error("the task {id} is not a question, and cannot be answered")]
    NotAQuestion { id: String },
    /// Another answer came first.
    #[error("the question was answered before, with another answer")]
    AlreadyAnswered,
    /// A person has stated another outcome of the write before.
    #[error("{what}")]
    AlreadyResolved {
        /// By which user and how, in words.
        what: String,
    },
    #[error("the task {id} is not the root of its tree")]
    NotARoot { id: String },
    /// No such call has an unknown end.
    #[error("the task has no such call whose end is not known")]
    UnknownCall,
    /// There is no such entry yet.
    #[error("the timeline has {entries} entries, from 0 on, and no entry {sequence}")]
    NoSuchEntry {
        /// The one asked for.
        sequence: u64,
        /// How many there are.
        entries: u64,
    },
    /// There is no such position yet.
    #[error("after_position must be at most {last}, the position of the last change")]
    NoSuchPosition { last: u64 },
    /// The budget is less than what is never cut.
    #[error("token_budget must be at least {least}: what is never cut takes that many")]
    BudgetTooSmall {
        /// The least that is enough.
        least: u64,
    },
}
