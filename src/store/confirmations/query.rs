//! How confirmations are looked for, and where they stand in lists.

use super::life::State;
use crate::idempotency::ArgumentsDigest;
use toolwire_base::digest::Digest;
use toolwire_contract::ToolName;
use toolwire_tool::context::{CallId, RequestId, TaskLabel, UserId};

/// The calls whose confirmations are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// The call of this id, and what it called.
    Call(CallId),
    /// The call that was made with this identifier, and what it called.
    Request(RequestId),
}

/// What an un-identified call is bound to.
#[derive(Clone, Debug)]
pub struct Binding<'a> {
    pub user: &'a UserId,
    pub tool: &'a ToolName,
    pub arguments_digest: ArgumentsDigest,
    /// Digest of the tool's definition.
    pub definition_digest: Digest,
    pub task_id: Option<&'a TaskLabel>,
}

/// Which confirmations a list is of. Criteria are combined with AND.
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

/// Among which confirmations positions are counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Among {
    /// All there are: for who sees those of others.
    All,
    /// Those of one user, so that nobody else's can be counted by them.
    Own(UserId),
}

/// A place in a list: first what is pending, oldest first, then the others, the last changed first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// After the pending one of this position.
    Pending(u64),
    /// After the other one of this position.
    Other(u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    pub first: u64,
    /// The position of the last; one less than `first` if there is none.
    pub last: u64,
}
