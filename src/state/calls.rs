//! Listed records of calls with a `request_id`: their metadata and state.
//!
//! Not here: beginning and ending calls (`idempotency`), and calls without a record.

pub(crate) mod rows;

use std::time::SystemTime;

use super::idempotency::Key;
use toolwire_base::digest::Digest;
use toolwire_contract::ConfirmationId;
use toolwire_tool::context::{CallId, RequestId, UserId};

#[derive(Clone, Debug)]
pub struct RecordedCall {
    /// The user, the tool and the `request_id`.
    pub key: Key,
    pub call_id: CallId,
    pub parent_call_id: Option<CallId>,
    /// Digest of the tool's definition.
    pub definition_digest: Option<Digest>,
    pub face: String,
    /// The task; empty if there is none.
    pub task_id: String,
    /// The session; empty if there is none.
    pub session_id: String,
    /// The trace; empty if there is none.
    pub trace_id: String,
    /// What the caller's program says it is; empty if it says nothing.
    pub client: String,
    /// When it began, or when it requested its confirmation.
    pub begun_at: SystemTime,
    pub ended_at: Option<SystemTime>,
    /// When it times out.
    pub deadline: Option<SystemTime>,
    /// The confirmation that it requires or has used.
    pub confirmation: Option<ConfirmationId>,
    pub standing: CallState,
    /// The process that began it. `None` in a record of an early version.
    pub replica: Option<String>,
    /// Whether the process that owned the call has ended.
    pub is_left: bool,
}

/// The state of a recorded call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallState {
    /// A person must approve it, or a call nested in it, first.
    Asked,
    Started,
    /// It ended with this code: `OK`, or the code of its error.
    Ended(String),
}

/// Selects calls by identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordSelector<'a> {
    Call(CallId),
    /// The calls of a user under this `request_id`: of every tool, or of one.
    Request(&'a UserId, RequestId, Option<&'a str>),
}

/// Selects calls for a list. Criteria are combined with AND; empty ones match every call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Criteria {
    pub user: Option<UserId>,
    pub tools: Vec<String>,
    pub task_id: String,
    pub session_id: String,
    /// The call in which they are nested.
    pub parent_call_id: Option<CallId>,
    /// Only calls that began at or after this instant.
    pub since: Option<SystemTime>,
}
