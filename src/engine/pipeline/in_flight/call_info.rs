//! The descriptions of running and ended calls, small enough to keep thousands of them.

use std::{sync::Arc, time::SystemTime};

use opentelemetry::trace::TraceId;
use tokio::time::Instant;
use tonic::Code;

use crate::pipeline::{ArrivalTime, Call, CallResult, Facts, Stages, nested};
use toolwire_base::digest::Digest;
use toolwire_contract::{ErrorCode, Refusal, Terminal, ToolError, ToolName, Violation, status};
use toolwire_tool::context::{
    CallId, ClientName, Origin, RequestId, SessionId, TaskLabel, ToolContext, UserId,
};

/// Maximum number of violations of a remembered error.
const MAX_VIOLATIONS: usize = 4;
/// Maximum length in bytes of its message, and of each text of a violation.
const MAX_MESSAGE: usize = 512;
const MAX_VIOLATION_TEXT: usize = 128;

/// The part of a call's description that is fixed when it begins.
#[derive(Clone, Debug)]
pub struct CallInfo {
    pub call_id: CallId,
    pub user: UserId,
    pub request_id: Option<RequestId>,
    pub parent_call_id: Option<CallId>,
    /// The task on whose behalf it is made.
    pub task_id: Option<TaskLabel>,
    pub session_id: Option<SessionId>,
    /// The trace from the caller's metadata.
    pub trace_id: Option<TraceId>,
    pub origin: Origin,
    /// What the program says it is that made the call from outside.
    pub client: Option<ClientName>,
    pub arrived: ArrivalTime,
    pub deadline: Instant,
}

#[derive(Clone, Debug)]
pub struct RunningCall {
    pub info: CallInfo,
    pub facts: Arc<Facts>,
}

/// A call that has ended. It holds no reference to its tool, so that a replaced registry is freed.
#[derive(Clone, Debug)]
pub struct EndedCall {
    pub info: CallInfo,
    pub tool: ToolName,
    pub definition_digest: Digest,
    pub at: SystemTime,
    pub end: CallEnd,
    /// Its error, with shortened texts. `None` also if it may repeat a sensitive argument.
    pub error: Option<Box<ToolError>>,
    /// Whether its result came from a cache or from an earlier call with the same `request_id`.
    pub from_cache: bool,
    pub stages: Stages,
    /// The instance of a host that the call went to last.
    pub instance: Option<Arc<str>>,
    /// The number of its end among the starts and ends of this process.
    pub(super) number: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallEnd {
    Data,
    /// An error, or a refusal mapped to the nearest code.
    Error(ErrorCode),
    AwaitsConfirmation,
}

/// How a call ended, as it is remembered.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) end: CallEnd,
    error: Option<Box<ToolError>>,
    /// Whether the answer was the same as for a tool that does not exist.
    hides_tool: bool,
}

impl Outcome {
    pub(super) fn of(result: &CallResult, facts: &Facts) -> Self {
        let hides_tool = matches!(result, Err(Refusal::PermissionDenied { .. }));
        Self { end: CallEnd::from(result), error: error_of(result, facts), hides_tool }
    }

    /// Of a call whose caller left.
    pub(super) fn abandoned() -> Self {
        let error = Some(Box::new(ToolError::cancelled()));
        Self { end: CallEnd::Error(ErrorCode::Cancelled), error, hides_tool: false }
    }
}

impl CallInfo {
    /// Whether no tool made it.
    pub fn is_from_outside(&self) -> bool {
        self.parent_call_id.is_none()
    }
}

impl RunningCall {
    pub(super) fn of(call: &Call) -> Self {
        let ToolContext {
            user, origin, client, call_id, parent_call_id, task_id, session_id, trace_id, ..
        } = &call.context;
        let info = CallInfo {
            call_id: *call_id,
            user: user.id.clone(),
            request_id: call.request_id,
            parent_call_id: *parent_call_id,
            task_id: task_id.clone(),
            session_id: session_id.clone(),
            trace_id: *trace_id,
            origin: *origin,
            client: client.clone(),
            arrived: call.arrived,
            deadline: call.context.deadline.at(),
        };
        Self { info, facts: Arc::clone(&call.facts) }
    }

    /// Converts to a call that has ended now; `None` if its user was not told whether its tool exists.
    pub(super) fn end(self, outcome: Outcome, number: u64, now: Instant) -> Option<EndedCall> {
        let Outcome { end, error, hides_tool: false } = outcome else { return None };
        let definition = &self.facts.tool()?.definition;
        let (tool, definition_digest) = (definition.name.clone(), definition.digest);
        let from_cache = self.facts.is_cache_hit();
        // By the monotonic clock, so that the duration is right even if the wall clock was set meanwhile.
        let at = self.info.arrived.wall_at(now);
        let (info, stages, instance) = (self.info, self.facts.stages(), self.facts.instance());
        Some(EndedCall {
            info,
            tool,
            definition_digest,
            at,
            end,
            error,
            from_cache,
            stages,
            instance,
            number,
        })
    }
}

impl From<&CallResult> for CallEnd {
    fn from(result: &CallResult) -> Self {
        match result {
            Ok(Terminal::Result(result)) => {
                result.outcome.as_ref().map_or_else(|error| Self::Error(error.code), |_| Self::Data)
            }
            Ok(Terminal::ConfirmationRequired(_)) => Self::AwaitsConfirmation,
            Err(refusal) => Self::Error(code_of(refusal)),
        }
    }
}

/// The error of a call that has ended, as its caller was answered, with shortened texts.
fn error_of(end: &CallResult, facts: &Facts) -> Option<Box<ToolError>> {
    let error = match end {
        Ok(Terminal::Result(result)) => {
            let error = result.outcome.as_ref().err()?;
            // Whatever a tool fails with may repeat what it was given.
            if facts.tool().is_some_and(|tool| tool.input.has_sensitive()) {
                return None;
            }
            shorten(error)
        }
        Ok(Terminal::ConfirmationRequired(_)) => return None,
        Err(refusal) => shorten(&nested::error_of_refusal(refusal)),
    };
    Some(Box::new(error))
}

fn shorten(error: &ToolError) -> ToolError {
    let shorten = |it: &Violation| Violation {
        pointer: cut(&it.pointer, MAX_VIOLATION_TEXT),
        rule: cut(&it.rule, MAX_VIOLATION_TEXT),
        description: cut(&it.description, MAX_VIOLATION_TEXT),
    };
    let violations = error.violations.iter().take(MAX_VIOLATIONS).map(shorten).collect();
    ToolError { message: cut(&error.message, MAX_MESSAGE), violations, ..*error }
}

/// A text of at most as many bytes, with a mark where it is cut.
fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let mark = "…";
    format!("{}{mark}", &text[..text.floor_char_boundary(most - mark.len())])
}

fn code_of(refusal: &Refusal) -> ErrorCode {
    match (refusal, status::code_of_refusal(refusal)) {
        (Refusal::DeadlineExceeded, _) => ErrorCode::Timeout,
        (_, Code::NotFound) => ErrorCode::NotFound,
        (_, Code::PermissionDenied) => ErrorCode::PermissionDenied,
        (_, Code::InvalidArgument | Code::OutOfRange) => ErrorCode::InvalidArgument,
        (_, Code::AlreadyExists | Code::FailedPrecondition | Code::Aborted) => ErrorCode::Conflict,
        (_, Code::ResourceExhausted) => ErrorCode::RateLimited,
        (_, Code::Cancelled) => ErrorCode::Cancelled,
        (_, Code::Internal | Code::DataLoss) => ErrorCode::Unknown,
        _ => ErrorCode::Unavailable,
    }
}
