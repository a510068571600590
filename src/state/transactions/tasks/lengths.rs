//! Token counts of texts, computed before the transaction that stores them, which excludes others while it runs.
//! Rendering does not count again.

use crate::tasks::{TaskCall, entry::Lengths};
use toolwire_contract::ToolResult;
use toolwire_tokens as tokens;

/// The token counts of a call without its result.
pub(super) async fn of_call(call: &TaskCall) -> Lengths {
    Lengths { input: Some(tokens::length(&call.input).await.tokens), result: None }
}

/// The token counts of a call with its result.
pub(super) async fn of_outcome(call: &TaskCall, result: &ToolResult) -> Lengths {
    let result = match &result.outcome {
        Ok(data) => Some(tokens::length(data.json_text()).await),
        Err(_) => None,
    };
    Lengths { result, ..of_call(call).await }
}

pub(super) async fn of_result(result: &str) -> Lengths {
    Lengths { input: None, result: Some(tokens::length(result).await) }
}
