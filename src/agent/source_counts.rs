//! Counts the calls of one turn or job to each source, up to as many as one user may make in its window.

use std::collections::HashMap;

use toolwire_engine::registry::RegisteredTool;
use toolwire_sources::upstream::source_status::SourceBudget;

/// Number of calls, by source.
#[derive(Debug, Default)]
pub(super) struct SourceCounts(HashMap<String, u32>);

impl SourceCounts {
    /// Counts a call of a tool. If the budget of its source is spent, the call is not counted, and the error is that
    /// budget.
    pub(super) fn count<'a>(
        &mut self,
        tool: &RegisteredTool,
        budgets: &'a [SourceBudget],
    ) -> Result<(), &'a SourceBudget> {
        let Some(source) = &tool.definition.source else { return Ok(()) };
        let Some(budget) = budgets.iter().find(|budget| budget.name == source.name) else { return Ok(()) };
        let count = self.0.entry(source.name.clone()).or_default();
        if *count >= budget.budget.max_requests {
            return Err(budget);
        }
        *count += 1;
        Ok(())
    }
}
