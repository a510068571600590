//! The outcome of an earlier call as the outcome of this one.

use crate::{
    contract::{Terminal, ToolResult, payload::StoredPayload},
    pipeline::Call,
};

/// The outcome of an earlier call. One that cannot be read any more counts as unfinished: nothing is carried out twice.
pub(super) fn readable(call: &Call, result: ToolResult<StoredPayload>) -> Option<ToolResult> {
    let read = result.read(call.tool().output.as_ref());
    let tool_name = &call.tool().definition.name;
    read.inspect_err(|error| tracing::warn!(%tool_name, %error, "the outcome of an earlier call is lost"))
        .ok()
}

/// The outcome of an earlier call as the outcome of this one.
pub(super) fn stored(call: &Call, result: ToolResult) -> Terminal {
    call.facts.hit();
    call.adopt(Terminal::Result(result))
}
