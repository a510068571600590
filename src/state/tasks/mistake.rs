//! Invalid calls of agents, for their timelines.

use super::{StepRef, entry::CallType};
use toolwire_contract::{ToolError, ToolName, proto::v1};
use toolwire_tool::context::{CallId, RequestId, TaskId, UserId};

/// An invalid call of a task's agent: nothing was executed, and the timeline records the error for the agent.
#[derive(Clone, Debug)]
pub struct Mistake {
    pub user: UserId,
    pub task: TaskId,
    /// The caller's idempotency key, or a generated one.
    pub request_id: RequestId,
    pub call_id: CallId,
    pub trace_id: Option<String>,
    pub step_ref: StepRef,
    /// The tool; for an unknown one, its name in a valid form.
    pub tool: ToolName,
    pub tool_type: CallType,
    /// What the call may change.
    pub category: v1::ToolCategory,
    /// The arguments as JSON text, with sensitive values redacted.
    pub input: String,
    pub error: ToolError,
}
