//! What is known of calls with a `request_id`: begun, and how they ended. Kept 24 h.

use std::{
    fmt::Debug,
    time::{Duration, SystemTime},
};

use futures_util::future::BoxFuture;

use super::StoreError;
use crate::{
    context::{RequestId, UserId},
    contract::{ToolName, ToolResult, payload::StoredPayload},
    digest::Digest,
};

/// How long a call with a `request_id` is remembered.
pub const RETENTION: Duration = Duration::from_hours(24);

/// How many calls are remembered. Beyond it new ones are refused rather than old ones forgotten: forgetting could
/// repeat a write.
pub const CAPACITY: usize = 100_000;

/// How many calls of one user are remembered: no user can use up what is there for all.
pub const USER_CAPACITY: usize = 10_000;

/// How many bytes the outcomes of one user's calls may have before new ones are refused.
pub const USER_BYTES: usize = 32 * 1024 * 1024;

/// Identifies a call with a `request_id`: identifiers of different users or tools never meet.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// The authenticated user.
    pub user: UserId,
    /// The tool's name.
    pub tool: ToolName,
    /// The caller's identifier.
    pub request_id: RequestId,
}

/// SHA-256 over the canonical text of the checked arguments.
pub type ArgumentsDigest = Digest;

/// What a call with a `request_id` meets.
#[derive(Clone, Debug)]
pub enum Begun {
    /// Nothing is known of it: it is recorded as begun, and must now be carried out.
    New,
    /// It was begun before and its end is not recorded.
    Unfinished,
    /// It ended like this.
    Ended(Box<ToolResult<StoredPayload>>),
    /// It was used before with other arguments.
    Conflict,
    /// No more calls can be remembered now.
    Full,
    /// It cannot be recorded, and so must not be carried out. The detail is for operators.
    Unavailable(StoreError),
}

/// Remembers calls with a `request_id`.
pub trait Idempotency: Send + Sync + Debug {
    /// Records the beginning at the given time, unless it is recorded already.
    fn begin<'a>(&'a self, key: &'a Key, digest: ArgumentsDigest, now: SystemTime) -> BoxFuture<'a, Begun>;
    /// Records the end. Unless it succeeds, the call stays unfinished.
    fn end<'a>(&'a self, key: &'a Key, result: &'a ToolResult) -> BoxFuture<'a, Result<(), StoreError>>;
    /// Forgets a call that turned out not to have done anything, so that it can be tried again.
    fn forget<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<(), StoreError>>;
}
