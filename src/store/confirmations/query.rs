//! Queries of confirmations, and cursors into lists of them.

use super::life::State;
use crate::idempotency::ArgumentsDigest;
use toolwire_base::digest::Digest;
use toolwire_contract::ToolName;
use toolwire_tool::context::{CallId, RequestId, TaskLabel, UserId};

/// A call, as a reference to the confirmations that it requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallRef {
    /// The call of this id, and what it called.
    Call(CallId),
    /// The call that was made with this identifier, and what it called.
    Request(RequestId),
}

/// What the confirmation of a call without an identifier is bound to.
#[derive(Clone, Debug)]
pub struct Binding<'a> {
    pub user: &'a UserId,
    pub tool: &'a ToolName,
    pub arguments_digest: ArgumentsDigest,
    /// Digest of the tool's definition.
    pub definition_digest: Digest,
    pub task_id: Option<&'a TaskLabel>,
}

/// Selects confirmations. Criteria are combined with AND.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Criteria {
    /// Any of these states; any at all if there is none.
    pub states: Vec<State>,
    /// Any of these tools; any at all if there is none.
    pub tools: Vec<String>,
    pub user: Option<UserId>,
    /// Calls on behalf of this task.
    pub task_id: Option<TaskLabel>,
}

/// The confirmations among which positions are counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All: for a user who sees those of others.
    All,
    /// Those of one user, whose positions reveal nothing of others.
    Own(UserId),
}

/// A cursor into a list: first the pending ones, the oldest first, then the others, the last changed first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cursor {
    /// After the pending one of this position.
    Pending(u64),
    /// After the other one of this position.
    Other(u64),
}

/// Positions of the changes that are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SequenceRange {
    pub first: u64,
    /// The position of the last; one less than `first` if there is none.
    pub last: u64,
}
