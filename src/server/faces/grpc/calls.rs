//! Requests about calls, and their records as messages.

use std::time::SystemTime;

use crate::service::{
    calls::{
        CallRef, Filter, Record, RecordingView, StageBeginning, State, WatchEvent, Watched, What, Whose,
    },
    request,
};
use toolwire_base::clock;
use toolwire_contract::{
    Refusal,
    convert::{duration, timestamp},
    proto::v1::{self, get_call_request},
};
use toolwire_engine::pipeline::Stage;
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
    let whose = whose("filter.user_id", &wire.user_id)?;
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

/// The users whose calls are meant.
pub(super) fn whose(field: &str, user_id: &str) -> Result<Whose, Refusal> {
    Ok(match user_id {
        "" => Whose::Own,
        "*" => Whose::Everybodys,
        other => request::user_id(field, other)?.map_or(Whose::Own, Whose::Of),
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
        client: record.client,
        replica: record.replica,
        instance: record.instance,
    }
}

pub(super) fn render_event(WatchEvent { what, position }: WatchEvent) -> v1::WatchCallsResponse {
    use v1::CallWatchType;
    let (kind, watched) = match what {
        What::Started(watched) => (CallWatchType::Started, Some(watched)),
        What::Ended(watched) => (CallWatchType::Ended, Some(watched)),
        What::Synced => (CallWatchType::Synced, None),
        What::Reset => (CallWatchType::Reset, None),
        What::Heartbeat => (CallWatchType::Heartbeat, None),
    };
    let (call, stages) = match watched {
        Some(watched) => {
            let Watched { record, stages } = *watched;
            (Some(render(record)), stages.into_iter().map(stage).collect())
        }
        None => (None, Vec::new()),
    };
    let event_time = Some(timestamp(clock::wall()));
    v1::WatchCallsResponse { r#type: kind.into(), call, stages, position, event_time }
}

pub(super) fn render_recording(it: RecordingView) -> v1::CallRecording {
    v1::CallRecording {
        arguments_json: it.arguments,
        expires_at: it.expires_at.map(timestamp),
        note: it.note,
    }
}

/// A stage, to the microsecond: many last less than a millisecond.
pub(super) fn stage((stage, at): StageBeginning) -> v1::CallStage {
    use v1::CallStageType;
    let kind = match stage {
        Stage::Received => CallStageType::Received,
        Stage::Checking => CallStageType::Checking,
        Stage::AwaitingConfirmation => CallStageType::AwaitingConfirmation,
        Stage::AwaitingPermit => CallStageType::AwaitingPermit,
        Stage::Recording => CallStageType::Recording,
        Stage::Executing => CallStageType::Executing,
        Stage::Requesting => CallStageType::Requesting,
        Stage::Committing => CallStageType::Committing,
    };
    let mut time = prost_types::Timestamp::from(at);
    time.nanos -= time.nanos % 1_000;
    v1::CallStage { r#type: kind.into(), time: Some(time) }
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
