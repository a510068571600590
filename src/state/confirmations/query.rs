//! Queries of confirmations, and cursors into lists of them.

use super::life::State;
use crate::idempotency::ArgumentsDigest;
use toolwire_base::digest::Digest;
use toolwire_contract::ToolName;
use toolwire_tool::context::{CallId, RequestId, TaskLabel, UserId};

/// Selects the confirmations that a call requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallRef {
    /// The call of this id, and the calls nested in it.
    Call(CallId),
    /// The call with this `request_id`, and the calls nested in it.
    Request(RequestId),
    /// Every call of the user.
    Any,
}

/// The key of a confirmation of a call without a `request_id`.
#[derive(Clone, Debug)]
pub struct Binding<'a> {
    pub user: &'a UserId,
    pub tool: &'a ToolName,
    pub arguments_digest: ArgumentsDigest,
    /// Digest of the tool's definition.
    pub definition_digest: Digest,
    pub task_id: Option<&'a TaskLabel>,
}

/// Selects confirmations. Criteria are combined with AND; empty ones match every confirmation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Criteria {
    /// Any of these states.
    pub states: Vec<State>,
    /// Any of these tools.
    pub tools: Vec<String>,
    pub user: Option<UserId>,
    /// Calls on behalf of this task.
    pub task_id: Option<TaskLabel>,
}

/// The set of confirmations within which positions are counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All confirmations, for a user who may see those of others.
    All,
    /// The confirmations of one user; positions reveal nothing about others.
    Own(UserId),
}

/// A cursor into a list, in which pending confirmations come first, in ascending order of position, and the others
/// follow, in descending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cursor {
    /// After the pending confirmation at this position.
    Pending(u64),
    /// After the confirmation at this position that is no longer pending.
    Other(u64),
}

/// Range of the positions of retained changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SequenceRange {
    pub first: u64,
    /// The last position; one less than `first` if the range is empty.
    pub last: u64,
}
