//! What is known of calls with a `request_id`: begun, and how they ended. Bounded by bytes, each user apart.

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

/// How many bytes the records of one user may have before new writes are refused rather than old ones forgotten:
/// forgetting could repeat a write. A million small writes.
pub const USER_BYTES: u64 = 1024 * 1024 * 1024;

/// What a record costs beside its columns of variable length, and how often those of its key are there.
const ROW: usize = 192;
const COPIES_OF_KEY: usize = 3;

/// What a call does, which says how long it is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It only reads: forgotten, it is read again.
    Read,
    /// Anything else: forgotten, it would be done again.
    Write,
}

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
    Unfinished {
        /// When it was begun.
        begun: SystemTime,
    },
    /// It ended like this.
    Ended(Box<ToolResult<StoredPayload>>),
    /// It was used before with other arguments.
    Conflict,
    /// The user's writes leave no room for another record.
    Full {
        /// When the oldest of them is forgotten.
        until: SystemTime,
    },
    /// It cannot be recorded, and so must not be carried out. The detail is for operators.
    Unavailable(StoreError),
}

/// Remembers calls with a `request_id`.
pub trait Idempotency: Send + Sync + Debug {
    /// Records the beginning at the given time, unless it is recorded already. Reads make room for others of their
    /// user.
    fn begin<'a>(
        &'a self,
        key: &'a Key,
        effect: Effect,
        digest: ArgumentsDigest,
        now: SystemTime,
    ) -> BoxFuture<'a, Begun>;
    /// Records the end. Unless it succeeds, the call stays unfinished.
    fn end<'a>(&'a self, key: &'a Key, result: &'a ToolResult) -> BoxFuture<'a, Result<(), StoreError>>;
    /// Forgets a call that turned out not to have done anything, so that it can be tried again.
    fn forget<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<(), StoreError>>;
}

impl Effect {
    /// How long such a call is remembered.
    pub const fn retention(self) -> Duration {
        match self {
            Self::Read => Duration::from_mins(10),
            Self::Write => Duration::from_hours(24),
        }
    }
}

impl Key {
    /// What a record without an outcome costs.
    pub(super) fn bytes(&self) -> usize {
        let request_id = self.request_id.to_string();
        ROW + COPIES_OF_KEY * (self.user.as_str().len() + self.tool.as_str().len() + request_id.len())
    }
}
