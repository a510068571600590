//! Equal writes: calls of one user that would do the same. One whose outcome the user has not received lends its
//! `request_id` to the next, so that a repeat without a `request_id` is not a second write.
//!
//! Not here: the record of the call, which answers the repeat (`idempotency`).

pub(crate) mod rows;

use std::time::Duration;

use crate::idempotency::ArgumentsDigest;
use toolwire_base::digest::Digest;
use toolwire_contract::ToolName;
use toolwire_tool::context::{RequestId, TaskLabel, UserId};

/// How long a write lends its `request_id` after its end, or after the end of its confirmation.
pub const UNDELIVERED: Duration = Duration::from_mins(10);

/// What equal writes have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EqualWrite {
    pub user: UserId,
    pub tool: ToolName,
    pub arguments_digest: ArgumentsDigest,
    /// Digest of the tool's definition.
    pub definition_digest: Digest,
    /// The task on whose behalf it is made: a confirmation is bound to it.
    pub task_id: Option<TaskLabel>,
}

/// A write that is about to begin under `request_id`, unless an equal one lends it another.
#[derive(Clone, Copy)]
pub struct Claim<'a> {
    pub write: &'a EqualWrite,
    pub request_id: RequestId,
    /// Whether the outcome under a `request_id` was delivered, although its row is not deleted yet.
    pub is_delivered: &'a (dyn Fn(RequestId) -> bool + Sync),
    /// The longest that a write runs.
    pub longest: Duration,
    /// How long the row of this claim can matter.
    pub lends_for: Duration,
}
