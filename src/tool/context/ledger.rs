//! What was called on behalf of one piece of work, nested calls included: for whoever shows a trace of it. A call that
//! is a part of no such work has no ledger, and pays nothing.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use super::CallId;

/// Takes a row for each call. Cheap to clone; clones share state.
#[derive(Clone, Debug, Default)]
pub struct Ledger(Arc<Mutex<Vec<LedgerRow>>>);

/// One call that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerRow {
    /// The tool, or what was asked for in its place.
    pub tool: String,
    /// The tool's first intent, else its name.
    pub component: String,
    /// The checked arguments as JSON text; their values read `[redacted]` unless logging them is switched on.
    /// `None` for a
    /// call whose arguments were not checked.
    pub arguments: Option<String>,
    /// How long it took.
    pub took: Duration,
    /// The sources that contributed.
    pub source_ids: Vec<String>,
    /// The code of its error.
    pub error: Option<&'static str>,
    /// Whether the result was there already.
    pub cache_hit: bool,
    /// The call.
    pub call_id: CallId,
    /// The call that made it.
    pub parent_call_id: Option<CallId>,
}

impl Ledger {
    /// Adds a call.
    pub fn note(&self, row: LedgerRow) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(row);
    }

    /// The calls so far, in the order in which they ended.
    pub fn rows(&self) -> Vec<LedgerRow> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
