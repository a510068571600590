//! Results of ending a task, and of recovery after a crash.

use toolwire_tool::context::{CallId, TaskId};

/// What the end of a task stopped. The calls are to be cancelled where they run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stopped {
    /// The tasks that ended, the requested one first.
    pub tasks: Vec<TaskId>,
    /// Their calls that have not ended.
    pub calls: Vec<CallId>,
}

/// The result of ending a task, and what the end stopped.
#[derive(Clone, Debug, PartialEq)]
pub struct Ending<T> {
    pub of: T,
    pub stopped: Stopped,
}

/// The number of calls that recovery settled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Reads that are to be made again.
    pub reads: usize,
    /// Calls without effect, or with a known outcome.
    pub settled: usize,
    /// Writes whose outcome is unknown.
    pub unknown: usize,
}
