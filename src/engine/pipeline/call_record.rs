//! A call as the stores record it: its key, its description, and its entry in a task.

use serde_json::Value;

use super::Call;
use crate::registry::{Category, Execution, MemoryScope, ToolType};
use toolwire_base::digest::Digest;
use toolwire_contract::{json, proto::v1};
use toolwire_state::{
    equal_writes::EqualWrite,
    idempotency::{About, ArgumentsDigest, Effect, Key},
    tasks::{Memory, RootCall, TaskCall, entry::CallType},
};
use toolwire_telemetry as telemetry;
use toolwire_tool::context::ToolContext;

/// The record of a call of a task. `None` for all other calls.
pub(super) fn task_call(call: &Call) -> Option<TaskCall> {
    let step_ref = call.step_ref.as_deref()?.clone();
    let definition = &call.tool().definition;
    // What an agent reads of its own calls, and makes again, is what it may give.
    let visible = call.tool().input.visible(&call.arguments);
    Some(TaskCall {
        task: call.context.task()?,
        key: key_of(call),
        effect: effect_of(call),
        digest: digest_of(call),
        about: about(call),
        tool_type: call_type(definition.kind),
        category: v1::ToolCategory::from(definition.category),
        step_ref,
        input: Value::Object(visible).to_string(),
        remembers: definition.memory.map(|scope| match scope {
            MemoryScope::Tree => Memory::Tree,
            MemoryScope::User => Memory::User,
        }),
    })
}

/// What equal writes have in common with the call.
pub(super) fn equal_write(call: &Call) -> EqualWrite {
    let definition = &call.tool().definition;
    EqualWrite {
        user: call.context.user.id.clone(),
        tool: definition.name.clone(),
        arguments_digest: digest_of(call),
        definition_digest: definition.digest,
        task_id: call.context.task_id.clone(),
    }
}

/// The record of a call that starts a tree of tasks.
pub(super) fn root_call(call: &Call) -> RootCall {
    RootCall { key: key_of(call), digest: digest_of(call), about: about(call) }
}

/// The idempotency key of a call. A call without a `request_id` has one derived from its lineage.
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

/// The description of a call in its record, for later queries.
pub(super) fn about(call: &Call) -> About {
    let ToolContext { user, origin, client, call_id, parent_call_id, task_id, session_id, .. } =
        &call.context;
    About {
        call_id: *call_id,
        parent_call_id: *parent_call_id,
        definition_digest: call.tool().definition.digest,
        origin: *origin,
        client: client.clone(),
        known_by: user.known_by,
        workload: user.recorded_workload().cloned(),
        task_id: task_id.clone(),
        session_id: session_id.clone(),
        trace_id: telemetry::current_trace_id().or(call.context.trace_id),
        deadline: call.arrived.wall_at(call.context.deadline.at()),
    }
}

/// Whether the transaction that carries out the call also records it and detects a repeat. True for tools without code
/// that change a task.
pub(super) fn records_itself(call: &Call) -> bool {
    let behaviour = call.tool().definition.kind.behaviour();
    !behaviour.executes && (call.step_ref.is_some() || behaviour.by == Execution::Root)
}

pub(super) fn digest_of(call: &Call) -> ArgumentsDigest {
    Digest::of_bytes(json::canonical(&call.arguments).as_bytes())
}
