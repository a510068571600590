//! What came of an end, and of a look after a crash.

use toolwire_tool::context::{CallId, TaskId};

/// What an end stopped besides: their calls are to be cancelled where they run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stopped {
    /// The tasks that ended, the one that was meant first.
    pub tasks: Vec<TaskId>,
    /// Their calls that have not ended.
    pub calls: Vec<CallId>,
}

/// What came of an end, and what it stopped.
#[derive(Clone, Debug, PartialEq)]
pub struct Ending<T> {
    /// What came of it.
    pub of: T,
    pub stopped: Stopped,
}

/// What was found after a crash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Reads that wait to be made again.
    pub reads: usize,
    /// Calls that did nothing, or whose outcome was known.
    pub settled: usize,
    /// Writes whose end is not known.
    pub unknown: usize,
}
