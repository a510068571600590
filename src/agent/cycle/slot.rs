//! A planned call before it is made: its disposition, and its key, by which equal calls are found.

use serde_json::{Map, Value};

use super::Caller;
use toolwire_base::{clock, digest::Digest};
use toolwire_contract::{ErrorCode, Provenance, ToolError, ToolName, ToolResult, json, near};
use toolwire_engine::registry::{Category, RegisteredTool};
use toolwire_planner::{Offer, PlannedCall};
use toolwire_tool::context::RequestId;

/// A call of a step.
pub(super) struct Slot {
    pub(super) planned: PlannedCall,
    pub(super) key: Digest,
    pub(super) disposition: Disposition,
    /// The index at which its result is inserted, if it waited for a person.
    pub(super) place: Option<usize>,
}

/// What is done with a planned call.
pub(super) enum Disposition {
    /// It is made, with this identifier.
    Call(RequestId),
    /// An equal one was made, or is made in this step.
    Known,
    /// It is not made.
    Refused(ToolError),
}

/// The arguments after the tool's input check, so that two spellings of one call are equal; unchanged if they are
/// invalid.
fn normal(tool: &RegisteredTool, planned: &PlannedCall) -> Map<String, Value> {
    tool.input.check_briefly(planned.arguments.clone()).unwrap_or_else(|_| planned.arguments.clone())
}

/// The key of a call: equal for equal calls, whichever way they are spelled.
pub(super) fn key_in(offer: &Offer, call: &PlannedCall) -> Digest {
    let arguments = offer.get(&call.tool).map(|tool| normal(tool, call));
    let arguments = json::canonical(arguments.as_ref().unwrap_or(&call.arguments));
    Digest::of_parts([call.tool.as_str(), &arguments])
}

/// The beginning of the message, by which [`is_cut`] recognizes such a call, also in a stored turn.
const CUT: &str = "not called: this turn may make";

/// A call beyond the budget.
pub(super) fn no_calls_left(most: u32) -> ToolError {
    ToolError::new(ErrorCode::Unavailable, format!("{CUT} {most} calls, and has made them"))
}

/// A call beyond the number that one user may make to the source in its window.
pub(super) fn too_often(source: &str, most: u32) -> ToolError {
    let message = format!("not called: this turn may ask {source} {most} times, and has done so");
    ToolError::new(ErrorCode::RateLimited, message)
}

/// A call of a step that ended because another call's source refuses us. Writes that have begun go on.
pub(super) fn not_waited_for(offer: &Offer, tool: &str) -> ToolError {
    let is_read = offer.get(tool).is_none_or(|tool| tool.definition.category == Category::Read);
    let (code, message) = if is_read {
        (ErrorCode::Cancelled, "Not waited for, because another source refuses requests.")
    } else {
        (
            ErrorCode::OutcomeUnknown,
            "Not waited for, because another source refuses requests; it may be done yet.",
        )
    };
    ToolError::new(code, message)
}

/// Whether the budget is why a call was not made.
pub(crate) fn is_cut(error: &ToolError) -> bool {
    error.message.starts_with(CUT)
}

/// A tool that may not be called, or does not exist.
pub(super) fn not_offered(caller: &Caller<'_>, name: &str) -> ToolError {
    let shown: String = name.chars().take(64).collect();
    let near = near::names(&shown, caller.offer.tools().iter().map(|tool| tool.definition.name.as_str()));
    ToolError::not_found(format!("no such tool: {shown}{}", near::question(&near)))
}

/// The result of a call that was not made.
pub(super) fn failure(tool: &str, error: ToolError) -> ToolResult {
    let unknown = || "unknown".parse::<ToolName>().expect("a name");
    ToolResult {
        tool: tool.parse().unwrap_or_else(|_| unknown()),
        fetched_at: clock::wall(),
        outcome: Err(error),
        provenance: Provenance::default(),
        kept: None,
    }
}
