//! The record of a call, merged from its sources.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use toolwire_contract::ErrorCode;
use toolwire_engine::pipeline::{CallEnd, CallInfo, EndedCall, RunningCall};
use toolwire_state::calls::{CallState, RecordedCall};
use toolwire_tool::context::CallId;

/// The record of a call, without its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub call_id: CallId,
    /// The tool; empty until it is resolved.
    pub tool: String,
    /// Digest of the tool's definition; empty until it is resolved.
    pub definition_digest: String,
    pub user: String,
    pub face: String,
    pub state: State,
    /// The caller's identifier; empty if none.
    pub request_id: String,
    /// The task; empty if none.
    pub task_id: String,
    /// The session; empty if none.
    pub session_id: String,
    /// The call that made it as a nested call; empty if none.
    pub parent_call_id: String,
    /// The trace; empty if none.
    pub trace_id: String,
    /// What the caller's program says it is; empty if it says nothing.
    pub client: String,
    /// The process that carries it out or did; empty if it is not known.
    pub replica: String,
    /// The instance of a host that it went to last; empty if there is none, or it is not known.
    pub instance: String,
    pub arrived_at: SystemTime,
    pub ended_at: Option<SystemTime>,
    pub deadline: Option<SystemTime>,
    /// The code of its error; empty without one.
    pub code: String,
    /// Whether its result came from a cache or from an earlier call.
    pub from_cache: bool,
    /// The confirmation that it waits for, or used; empty if none.
    pub confirmation_id: String,
    /// Whether its outcome is stored.
    pub result_kept: bool,
}

/// The state of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Running,
    /// A person must approve it first.
    AwaitingConfirmation,
    /// The call ended with data.
    Succeeded,
    /// The call ended with an error.
    Failed,
    Cancelled,
    /// The call began, and its end was not recorded.
    OutcomeUnknown,
}

impl State {
    pub const fn is_final(self) -> bool {
        !matches!(self, Self::Running | Self::AwaitingConfirmation)
    }

    fn of_code(code: &str) -> Self {
        match code {
            "OK" => Self::Succeeded,
            code if code == ErrorCode::Cancelled.into_str() => Self::Cancelled,
            code if code == ErrorCode::OutcomeUnknown.into_str() => Self::OutcomeUnknown,
            _ => Self::Failed,
        }
    }
}

impl Record {
    /// `replica` names this process.
    pub(super) fn of_running(call: &RunningCall, replica: &str) -> Self {
        let definition = call.facts.tool().map(|tool| &tool.definition);
        Self {
            tool: definition.map(|it| it.name.to_string()).unwrap_or_default(),
            definition_digest: definition.map(|it| it.digest.to_string()).unwrap_or_default(),
            instance: text_of(call.facts.instance()),
            ..Self::of_seen(&call.info, replica)
        }
    }

    /// `replica` names this process.
    pub(super) fn of_ended(call: &EndedCall, replica: &str) -> Self {
        let (state, code) = match call.end {
            CallEnd::Data => (State::Succeeded, ""),
            CallEnd::Error(code) => (State::of_code(code.into_str()), code.into_str()),
            CallEnd::AwaitsConfirmation => (State::AwaitingConfirmation, ""),
        };
        Self {
            tool: call.tool.to_string(),
            definition_digest: call.definition_digest.to_string(),
            state,
            ended_at: Some(call.at),
            code: code.to_owned(),
            from_cache: call.from_cache,
            instance: text_of(call.instance.clone()),
            ..Self::of_seen(&call.info, replica)
        }
    }

    /// `runs`: whether this process carries it out. A call of another process is taken for running until the cap has
    /// passed or that process has ended.
    pub(super) fn of_recorded(call: &RecordedCall, runs: bool, cap: Duration, now: SystemTime) -> Self {
        let (state, code) = match &call.standing {
            CallState::Asked => (State::AwaitingConfirmation, String::new()),
            CallState::Started if runs => (State::Running, String::new()),
            CallState::Started if !call.is_left && now < call.begun_at + cap => {
                (State::Running, String::new())
            }
            CallState::Started => (State::OutcomeUnknown, ErrorCode::OutcomeUnknown.into_str().to_owned()),
            CallState::Ended(code) => {
                let state = State::of_code(code);
                (state, if state == State::Succeeded { String::new() } else { code.clone() })
            }
        };
        Self {
            call_id: call.call_id,
            tool: call.key.tool.to_string(),
            definition_digest: call.definition_digest.map(|it| it.to_string()).unwrap_or_default(),
            user: call.key.user.to_string(),
            face: call.face.clone(),
            state,
            request_id: call.key.request_id.to_string(),
            task_id: call.task_id.clone(),
            session_id: call.session_id.clone(),
            parent_call_id: call.parent_call_id.map(|id| id.to_string()).unwrap_or_default(),
            trace_id: call.trace_id.clone(),
            client: call.client.clone(),
            replica: call.replica.clone().unwrap_or_default(),
            instance: String::new(),
            arrived_at: call.begun_at,
            ended_at: call.ended_at,
            deadline: call.deadline,
            code,
            from_cache: false,
            confirmation_id: call.confirmation.as_ref().map(ToString::to_string).unwrap_or_default(),
            result_kept: matches!(call.standing, CallState::Ended(_)),
        }
    }

    fn of_seen(seen: &CallInfo, replica: &str) -> Self {
        Self {
            call_id: seen.call_id,
            tool: String::new(),
            definition_digest: String::new(),
            user: seen.user.to_string(),
            face: seen.origin.face.to_owned(),
            state: State::Running,
            request_id: seen.request_id.map(|id| id.to_string()).unwrap_or_default(),
            task_id: seen.task_id.as_ref().map(ToString::to_string).unwrap_or_default(),
            session_id: seen.session_id.as_ref().map(ToString::to_string).unwrap_or_default(),
            parent_call_id: seen.parent_call_id.map(|id| id.to_string()).unwrap_or_default(),
            trace_id: seen.trace_id.map(|id| id.to_string()).unwrap_or_default(),
            client: seen.client.as_ref().map(ToString::to_string).unwrap_or_default(),
            replica: replica.to_owned(),
            instance: String::new(),
            arrived_at: seen.arrived.wall,
            ended_at: None,
            deadline: Some(seen.arrived.wall_at(seen.deadline)),
            code: String::new(),
            from_cache: false,
            confirmation_id: String::new(),
            result_kept: false,
        }
    }
}

fn text_of(text: Option<Arc<str>>) -> String {
    text.map(|it| it.to_string()).unwrap_or_default()
}
