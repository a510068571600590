//! The outcome of an earlier call as the outcome of this one.

use crate::pipeline::Call;
use toolwire_contract::{Terminal, ToolResult, payload::StoredPayload};

/// The stored outcome of an earlier call. `None` if it cannot be decoded: the call then counts as unfinished, so that a
/// write does not run twice.
pub(super) fn decode(call: &Call, result: ToolResult<StoredPayload>) -> Option<ToolResult> {
    let read = result.read(call.tool().output.as_ref());
    let tool_name = &call.tool().definition.name;
    read.inspect_err(|error| tracing::warn!(%tool_name, %error, "the outcome of an earlier call is lost"))
        .ok()
}

/// Answers this call with the outcome of an earlier one.
pub(super) fn replay(call: &Call, result: ToolResult) -> Terminal {
    call.facts.mark_cache_hit();
    call.adopt(Terminal::Result(result))
}
