//! What an agent got wrong, for its timeline.

use super::{StepRef, entry::CallType};
use toolwire_contract::{ToolError, ToolName, proto::v1};
use toolwire_tool::context::{CallId, RequestId, TaskId, UserId};

/// A call that a task's agent got wrong: nothing was begun, and its timeline keeps the error for the agent.
#[derive(Clone, Debug)]
pub struct Mistake {
    pub user: UserId,
    pub task: TaskId,
    /// The caller's identifier, or one that the server made.
    pub request_id: RequestId,
    pub call_id: CallId,
    pub trace_id: Option<String>,
    /// Its step.
    pub step_ref: StepRef,
    /// The tool; one that there is not, in a form that names can have.
    pub tool: ToolName,
    pub tool_type: CallType,
    /// What it may change.
    pub category: v1::ToolCategory,
    /// The arguments as JSON text; what is sensitive is redacted.
    pub input: String,
    pub error: ToolError,
}
