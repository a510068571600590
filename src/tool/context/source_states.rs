//! The states of sources whose data changes while they serve, as a call sees them.
//!
//! The registry learns of a change a moment late. A caller that needs the state a call will read, before it reads, asks
//! here; asking pins it for the call and all its nested calls.

use std::{collections::BTreeMap, fmt};

use super::ToolContext;

/// Fixes the state of one source for a call, and returns its digest.
type Fix = fn(&ToolContext) -> String;

/// How to fix the state of each such source. The composition root puts it among the services.
#[derive(Clone, Default)]
pub struct SourceStates(BTreeMap<&'static str, Fix>);

impl SourceStates {
    /// The same and one source more.
    pub fn with(mut self, source: &'static str, fix: Fix) -> Self {
        self.0.insert(source, fix);
        self
    }

    /// These and others.
    pub fn and(mut self, others: Self) -> Self {
        self.0.extend(others.0);
        self
    }

    /// The digest of the state of one source that the call sees from now on. `None` for a source
    /// whose data does not change while serving.
    pub fn fix(&self, source: &str, context: &ToolContext) -> Option<String> {
        self.0.get(source).map(|fix| fix(context))
    }

    /// The digests of all of them.
    pub fn fix_all(&self, context: &ToolContext) -> String {
        self.0.values().map(|fix| fix(context)).collect()
    }
}

impl fmt::Debug for SourceStates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
