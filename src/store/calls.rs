//! Calls with a `request_id` as they are listed: what is recorded of them, and how they ended.
//!
//! Not here: beginning and ending them (`idempotency`), and calls that have no record.

use std::time::SystemTime;

use super::idempotency::Key;
use toolwire_base::digest::Digest;
use toolwire_contract::ConfirmationId;
use toolwire_tool::context::{CallId, RequestId, UserId};

#[derive(Clone, Debug)]
pub struct RecordedCall {
    /// Whose call of which tool it is, by which identifier.
    pub key: Key,
    pub call_id: CallId,
    pub parent_call_id: Option<CallId>,
    /// Digest of the tool's definition.
    pub definition_digest: Option<Digest>,
    pub face: String,
    /// The task; empty if none.
    pub task_id: String,
    /// The session; empty if none.
    pub session_id: String,
    /// The trace; empty if none.
    pub trace_id: String,
    /// When it began, or asked.
    pub begun_at: SystemTime,
    pub ended_at: Option<SystemTime>,
    /// By when it ends, whatever happens.
    pub deadline: Option<SystemTime>,
    /// The confirmation that it needs or used.
    pub confirmation: Option<ConfirmationId>,
    /// How far it is.
    pub standing: Standing,
    /// Whether the process that began it is gone.
    pub is_left: bool,
}

/// How far a recorded call is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// A person must approve it, or a part of it, first.
    Asked,
    Started,
    /// It ended so: `OK`, or the code of its error.
    Ended(String),
}

/// Selects calls by a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named<'a> {
    Call(CallId),
    /// Those of a user by this identifier, of every tool or of one.
    Request(&'a UserId, RequestId, Option<&'a str>),
}

/// Selects calls for a list. Criteria are combined with AND; empty ones match every call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Criteria {
    pub user: Option<UserId>,
    pub tools: Vec<String>,
    pub task_id: String,
    pub session_id: String,
    /// The call that made them.
    pub parent_call_id: Option<CallId>,
    /// Begun at or after this instant.
    pub since: Option<SystemTime>,
}
