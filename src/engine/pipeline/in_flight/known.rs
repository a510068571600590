//! What is known of a call while it runs, and of one that ended a while ago: little enough to be kept of every call.

use std::{sync::Arc, time::SystemTime};

use opentelemetry::trace::TraceId;
use tokio::time::Instant;
use tonic::Code;

use crate::pipeline::{Arrived, Call, CallResult, Facts};
use toolwire_base::{clock, digest::Digest};
use toolwire_contract::{ErrorCode, Refusal, Terminal, ToolName, status};
use toolwire_tool::context::{CallId, Origin, RequestId, SessionId, TaskLabel, ToolContext, UserId};

/// What is known of a call from its beginning.
#[derive(Clone, Debug)]
pub struct Seen {
    pub call_id: CallId,
    pub user: UserId,
    pub request_id: Option<RequestId>,
    pub parent_call_id: Option<CallId>,
    /// The task on whose behalf it is made.
    pub task_id: Option<TaskLabel>,
    pub session_id: Option<SessionId>,
    /// The trace that its caller named.
    pub trace_id: Option<TraceId>,
    /// Where it came from.
    pub origin: Origin,
    pub arrived: Arrived,
    /// By when it ends.
    pub deadline: Instant,
}

#[derive(Clone, Debug)]
pub struct RunningCall {
    /// What is known of it from its beginning.
    pub seen: Seen,
    /// What is known of it so far.
    pub facts: Arc<Facts>,
}

/// A call that ended. It holds nothing of the tools as they were then.
#[derive(Clone, Debug)]
pub struct EndedCall {
    /// What is known of it from its beginning.
    pub seen: Seen,
    pub tool: ToolName,
    /// Digest of the tool's definition.
    pub definition_digest: Digest,
    pub at: SystemTime,
    pub end: End,
    /// Whether its result came from a cache or from an earlier call.
    pub from_cache: bool,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Data,
    /// With an error, or a refusal that means as much.
    Error(ErrorCode),
    /// A person must approve it first.
    AwaitsConfirmation,
}

impl RunningCall {
    pub(super) fn of(call: &Call) -> Self {
        let ToolContext { user, origin, call_id, parent_call_id, task_id, session_id, trace_id, .. } =
            &call.context;
        let seen = Seen {
            call_id: *call_id,
            user: user.id.clone(),
            request_id: call.request_id,
            parent_call_id: *parent_call_id,
            task_id: task_id.clone(),
            session_id: session_id.clone(),
            trace_id: *trace_id,
            origin: *origin,
            arrived: call.arrived,
            deadline: call.context.deadline.at(),
        };
        Self { seen, facts: Arc::clone(&call.facts) }
    }

    /// The same, ended; `None` if it was refused before its tool was known.
    pub(super) fn ended(self, end: End) -> Option<EndedCall> {
        let definition = &self.facts.tool()?.definition;
        let (tool, definition_digest) = (definition.name.clone(), definition.digest);
        let from_cache = self.facts.is_cache_hit();
        // One look at one clock: both were read when it came.
        let at = self.seen.arrived.wall + (clock::now() - self.seen.arrived.at);
        Some(EndedCall { seen: self.seen, tool, definition_digest, at, end, from_cache })
    }
}

impl From<&CallResult> for End {
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
