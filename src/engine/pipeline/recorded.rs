//! A call as stores record it: what identifies it, what is kept of it, and its place in a task.

use serde_json::Value;

use super::Call;
use crate::registry::{Category, Execution, MemoryScope, ToolType};
use toolwire_base::{clock, digest::Digest};
use toolwire_contract::{json, proto::v1};
use toolwire_store::{
    idempotency::{About, ArgumentsDigest, Effect, Key},
    tasks::{Memory, RootCall, TaskCall, entry::CallType},
};
use toolwire_telemetry as telemetry;
use toolwire_tool::context::ToolContext;

/// A call of a task, as the store of tasks takes it. `None` for all others.
pub(super) fn task_call(call: &Call) -> Option<TaskCall> {
    let step_ref = call.step_ref.as_deref()?.clone();
    let definition = &call.tool().definition;
    let shown = call.tool().input.shown(&call.arguments).into_owned();
    Some(TaskCall {
        task: call.context.task()?,
        key: key_of(call),
        effect: effect_of(call),
        digest: digest_of(call),
        about: about(call),
        tool_type: call_type(definition.kind),
        category: v1::ToolCategory::from(definition.category),
        step_ref,
        input: Value::Object(shown).to_string(),
        remembers: definition.memory.map(|scope| match scope {
            MemoryScope::Tree => Memory::Tree,
            MemoryScope::User => Memory::User,
        }),
    })
}

/// A call that begins a tree, as the store of tasks takes it.
pub(super) fn root_call(call: &Call) -> RootCall {
    RootCall { key: key_of(call), digest: digest_of(call), about: about(call) }
}

/// What identifies a call that has an identifier, as all have that are recorded.
pub(super) fn key_of(call: &Call) -> Key {
    Key {
        user: call.context.user.id.clone(),
        tool: call.tool().definition.name.clone(),
        request_id: call.request_id.unwrap_or_else(|| call.context.lineage.request_id()),
    }
}

pub(super) fn effect_of(call: &Call) -> Effect {
    if call.tool().definition.category == Category::Read { Effect::Read } else { Effect::Write }
}

pub(super) const fn call_type(kind: ToolType) -> CallType {
    match kind {
        ToolType::Function => CallType::Function,
        ToolType::NonFunction => CallType::NonFunction,
        ToolType::Handoff => CallType::Handoff,
        ToolType::AgentAsTool => CallType::AgentAsTool,
        ToolType::AskMaster => CallType::AskMaster,
        ToolType::Root => CallType::Root,
    }
}

/// What is recorded of a call for those who look at it later.
pub(super) fn about(call: &Call) -> About {
    let ToolContext { user, origin, call_id, parent_call_id, task_id, session_id, .. } = &call.context;
    About {
        call_id: *call_id,
        parent_call_id: *parent_call_id,
        definition_digest: call.tool().definition.digest,
        origin: *origin,
        known_by: user.known_by,
        task_id: task_id.clone(),
        session_id: session_id.clone(),
        trace_id: telemetry::current_trace_id().or(call.context.trace_id),
        deadline: clock::wall_at(call.context.deadline.at()),
    }
}

/// Whether the change that carries a call out records it too, and knows a repeat: whatever executes nothing, and is not
/// only answered.
pub(super) fn records_itself(call: &Call) -> bool {
    let behaviour = call.tool().definition.kind.behaviour();
    !behaviour.executes && (call.step_ref.is_some() || behaviour.by == Execution::Root)
}

pub(super) fn digest_of(call: &Call) -> ArgumentsDigest {
    Digest::of_bytes(json::canonical(&call.arguments).as_bytes())
}
