//! What a model reads of a result, made beside the threads that carry calls where there is much of it.

use super::Tools;
use crate::{
    contract::{
        ToolResult,
        model::{self, Wanted},
    },
    offload,
};

/// About so many bytes stand around the data.
const AROUND: usize = 1_024;

impl Tools {
    /// What a model reads of a result, at most so many tokens.
    pub async fn for_model(&self, result: &ToolResult, max_tokens: u64) -> String {
        let size = AROUND + result.outcome.as_ref().map_or(0, |payload| payload.json_text().len());
        let snapshot = self.registry.snapshot();
        let schema = snapshot.get(&result.tool).map(|tool| &tool.definition.input_schema);
        let parameters = schema.and_then(|schema| schema.get("properties")?.as_object());
        let narrow_by = parameters.into_iter().flat_map(|it| it.keys().cloned()).collect();
        let (result, wanted) = (result.clone(), Wanted { max_tokens, narrow_by });
        // A token has a byte at least: then there is nothing to count, for which a vocabulary would be read.
        let counted = if size as u64 <= max_tokens { 0 } else { usize::MAX };
        offload::if_large(counted, move || model::text(&result, &wanted)).await
    }
}
