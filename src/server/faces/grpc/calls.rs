//! Requests about calls, and their records as messages.

use std::time::SystemTime;

use crate::service::{
    calls::{CallRef, Filter, Record, State, Whose},
    request,
};
use toolwire_base::clock;
use toolwire_contract::{
    Refusal,
    convert::{duration, timestamp},
    proto::v1::{self, get_call_request},
};
use toolwire_tool::context::TaskLabel;

/// Reads the call that a query names.
pub(super) fn read_ref(call: Option<get_call_request::Call>, tool: String) -> Result<CallRef, Refusal> {
    use get_call_request::Call;
    let none = || request::refuse("call", "required", "must name a call by call_id or request_id");
    match call.ok_or_else(none)? {
        Call::CallId(id) => Ok(CallRef::Call(request::call_id("call_id", &id)?)),
        Call::RequestId(id) => {
            let id = request::request_id("request_id", &id)?.ok_or_else(none)?;
            Ok(CallRef::Request(id, Some(tool).filter(|tool| !tool.is_empty())))
        }
    }
}

/// The calls that are looked for.
pub(super) fn filter(wire: Option<v1::CallFilter>) -> Result<Filter, Refusal> {
    let wire = wire.unwrap_or_default();
    let state = |wire| {
        let what = "must be states of CallState";
        state_of(wire).ok_or_else(|| request::refuse("filter.states", "enum", what))
    };
    let whose = match wire.user_id.as_str() {
        "" => Whose::Own,
        "*" => Whose::Everybodys,
        other => request::user_id("filter.user_id", other)?.map_or(Whose::Own, Whose::Of),
    };
    let parent = Some(wire.parent_call_id).filter(|id| !id.is_empty());
    Ok(Filter {
        tools: wire.tools,
        states: wire.states.into_iter().map(state).collect::<Result<_, _>>()?,
        task_id: request::task_id("filter.task_id", &wire.task_id)?
            .as_ref()
            .map(TaskLabel::to_string)
            .unwrap_or_default(),
        session_id: request::session_id("filter.session_id", &wire.session_id)?
            .map(|id| id.to_string())
            .unwrap_or_default(),
        parent_call_id: parent.map(|id| request::call_id("filter.parent_call_id", &id)).transpose()?,
        whose,
        since: request::instant("filter.since", wire.since)?,
    })
}

pub(super) fn render(record: Record) -> v1::CallRecord {
    let until = record.ended_at.unwrap_or_else(clock::wall);
    let took = until.duration_since(record.arrived_at).unwrap_or_default();
    let code = format!("TOOL_ERROR_CODE_{}", record.code);
    let instant = |at: Option<SystemTime>| at.map(timestamp);
    v1::CallRecord {
        call_id: record.call_id.to_string(),
        tool: record.tool,
        definition_digest: record.definition_digest,
        user_id: record.user,
        face: record.face,
        state: state(record.state).into(),
        request_id: record.request_id,
        task_id: record.task_id,
        session_id: record.session_id,
        parent_call_id: record.parent_call_id,
        trace_id: record.trace_id,
        arrived_at: Some(timestamp(record.arrived_at)),
        ended_at: instant(record.ended_at),
        deadline: instant(record.deadline),
        duration: Some(duration(took)),
        code: v1::ToolErrorCode::from_str_name(&code).unwrap_or_default().into(),
        from_cache: record.from_cache,
        confirmation_id: record.confirmation_id,
        result_kept: record.result_kept,
    }
}

const STATES: [State; 6] = [
    State::Running,
    State::AwaitingConfirmation,
    State::Succeeded,
    State::Failed,
    State::Cancelled,
    State::OutcomeUnknown,
];

fn state(state: State) -> v1::CallState {
    match state {
        State::Running => v1::CallState::Running,
        State::AwaitingConfirmation => v1::CallState::AwaitingConfirmation,
        State::Succeeded => v1::CallState::Succeeded,
        State::Failed => v1::CallState::Failed,
        State::Cancelled => v1::CallState::Cancelled,
        State::OutcomeUnknown => v1::CallState::OutcomeUnknown,
    }
}

fn state_of(wire: i32) -> Option<State> {
    STATES.into_iter().find(|it| i32::from(state(*it)) == wire)
}
