//! Idempotency records of calls with a `request_id`: their beginning and outcome. Their bytes are bounded by quotas per
//! user and for all users.

pub mod life;

use std::{
    fmt::Debug,
    future::ready,
    sync::Arc,
    time::{Duration, SystemTime},
};

use futures_util::future::BoxFuture;
use opentelemetry::trace::TraceId;

use toolwire_base::{clock, digest::Digest};
use toolwire_contract::{ToolName, ToolResult, payload::StoredPayload};
use toolwire_db::StoreError;
use toolwire_tool::context::{CallId, ClientName, KnownBy, Origin, RequestId, SessionId, TaskLabel, UserId};

/// The quota of records, in bytes. When it is exhausted, new writes are refused rather than old records deleted:
/// without its record a write could be repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    pub of_user: u64,
    /// The bytes of all users. The first half is first come, first served; the second half is reserved for users below
    /// their fair share, so that they find room however much others use.
    pub of_all: u64,
}

/// The quota that is exhausted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    User,
    /// The quota of all users.
    All,
}

/// The number of users whose fair shares fit into the reserved half.
const FAIR_SHARES: u64 = 1024;

/// Estimated bytes of a record without its columns of variable length.
const ROW: usize = 512;

/// Number of copies of the key's columns in the table and its indexes.
const COPIES_OF_KEY: usize = 3;

/// The effect of a call, which determines the retention of its record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It only reads: without its record, it is made again.
    Read,
    /// Anything else: without its record, its effect could be repeated.
    Write,
}

/// Identifies a call with a `request_id`, which is scoped to a user and a tool.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    pub user: UserId,
    pub tool: ToolName,
    pub request_id: RequestId,
}

/// SHA-256 of the canonical JSON of the validated arguments.
pub type ArgumentsDigest = Digest;

/// A call with a `request_id` that is about to begin.
#[derive(Clone, Copy, Debug)]
pub struct Beginning<'a> {
    /// The user, the tool and the `request_id`.
    pub key: &'a Key,
    pub effect: Effect,
    pub digest: ArgumentsDigest,
    pub about: &'a About,
}

/// Metadata of a call, recorded for later queries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    pub call_id: CallId,
    pub parent_call_id: Option<CallId>,
    /// Digest of the tool's definition.
    pub definition_digest: Digest,
    pub origin: Origin,
    /// What the caller's program says it is.
    pub client: Option<ClientName>,
    /// How the user was authenticated.
    pub known_by: KnownBy,
    /// The workload that the peer proved to be.
    pub workload: Option<Arc<str>>,
    /// The task on whose behalf it is made.
    pub task_id: Option<TaskLabel>,
    pub session_id: Option<SessionId>,
    pub trace_id: Option<TraceId>,
    /// When it times out.
    pub deadline: SystemTime,
}

/// The result of beginning a call with a `request_id`.
#[derive(Clone, Debug)]
pub enum Begun {
    /// There was no record: it is recorded as begun, and the caller must execute it.
    New,
    /// It waits for the approval of a person, so the confirmation store must decide how it continues. Nothing was
    /// executed.
    Asked,
    /// It began before, and its end is not recorded.
    Unfinished { begun: SystemTime },
    /// It ended before, with this result.
    Ended(Box<ToolResult<StoredPayload>>),
    /// The `request_id` was used before with other arguments.
    Conflict,
    /// The quota is exhausted by records of writes.
    Full {
        /// When enough records will have expired.
        until: SystemTime,
        bound: Bound,
    },
    /// It could not be recorded, and so must not be executed. The error is for operators.
    Unavailable(StoreError),
}

/// How far a recorded call has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownCall {
    /// A person must approve it first, or it has not begun since one has.
    Asked,
    /// It has begun, and no outcome is recorded.
    Begun,
    /// A repeat gets its outcome.
    Ended,
}

/// The process that executes a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// Another live process, as the call of this id.
    Remote(CallId),
    /// No known process: the call is not of this process, or its owner has ended.
    Lost,
    /// None: the call has ended, has no record, or waits for a person.
    Over,
}

/// A recorded write, as another process than its owner finds it.
#[derive(Clone, Debug)]
pub struct FoundWrite {
    pub key: Key,
    pub is_of_task: bool,
    pub state: WriteState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteState {
    /// Its owner lives, or it waits for a person.
    Open,
    /// Its owner has ended without an outcome.
    Lost,
    /// The recorded outcome is that it is unknown.
    Unknown,
    /// It has an outcome.
    Known,
}

/// The end of a call that another process executed.
#[derive(Clone, Debug)]
pub enum RemoteEnd {
    Ended(Box<ToolResult<StoredPayload>>),
    /// It was cancelled without effect.
    Cancelled,
    /// Its process has ended, or it had no effect: the caller must look at the record again.
    Unsettled,
}

/// A store of calls with a `request_id`. The provided methods fit a store that is not shared with other processes.
pub trait Idempotency: Send + Sync + Debug {
    /// Records the beginning, unless there is a record already. Records of reads are deleted to make room for others of
    /// their user.
    fn begin<'a>(&'a self, call: Beginning<'a>) -> BoxFuture<'a, Begun>;
    /// Records the end. If this fails, the call stays unfinished.
    fn end<'a>(&'a self, key: &'a Key, result: &'a ToolResult) -> BoxFuture<'a, Result<(), StoreError>>;
    /// As [`end`](Self::end), of a read: after a loss of power it is made again.
    fn end_read<'a>(&'a self, key: &'a Key, result: &'a ToolResult) -> BoxFuture<'a, Result<(), StoreError>> {
        self.end(key, result)
    }
    /// Records that a call waits for the approval of a call nested in it. It has had no effect of its own that must not
    /// be repeated, and begins again when it is repeated.
    fn suspend<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<(), StoreError>>;
    /// Deletes the record of a call that turned out to have no effect, so that it can be retried. `code` is the code
    /// with which it ended.
    fn forget<'a>(&'a self, key: &'a Key, code: &'a str) -> BoxFuture<'a, Result<(), StoreError>>;
    /// The process that executes an unfinished call.
    fn owner<'a>(&'a self, _key: &'a Key) -> BoxFuture<'a, Result<Owner, StoreError>> {
        Box::pin(ready(Ok(Owner::Lost)))
    }
    /// Waits until a call that another process executes as `call_id` has ended, or that process has.
    fn wait_for_remote_end<'a>(&'a self, _key: &'a Key, _call_id: CallId) -> BoxFuture<'a, RemoteEnd> {
        Box::pin(ready(RemoteEnd::Unsettled))
    }
    /// The time by the clock of the records.
    fn now(&self) -> SystemTime {
        clock::wall()
    }
    /// Requests the owner of a call to cancel it.
    fn cancel_owner<'a>(
        &'a self,
        _user: &'a UserId,
        _call_id: CallId,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(ready(Ok(())))
    }
}

impl Default for Quota {
    /// About a million small writes per user, and eight times as many in total.
    fn default() -> Self {
        Self::of_users(1024 * 1024 * 1024)
    }
}

impl Quota {
    /// `of_user` bytes per user, and eight times as many in total.
    pub fn of_users(of_user: u64) -> Self {
        Self { of_user, of_all: of_user.saturating_mul(8) }
    }

    /// The bytes that are available to each user regardless of others.
    pub fn fair_share(self) -> u64 {
        (self.of_all / 2 / FAIR_SHARES).max(1)
    }

    /// The quota that would be exceeded by another record, given the bytes used by its user and by all users, and the
    /// bytes to free before it fits.
    pub fn full(self, user: u64, all: u64) -> Option<(Bound, u64)> {
        let of_all = if user < self.fair_share() { self.of_all } else { self.of_all / 2 };
        let excess = |used: u64, limit: u64| used.checked_sub(limit).map(|excess| excess + 1);
        let own = excess(user, self.of_user).map(|it| (Bound::User, it));
        own.or_else(|| excess(all, of_all).map(|it| (Bound::All, it)))
    }
}

impl About {
    /// Metadata of only the call and the definition.
    pub fn of(call_id: CallId, definition_digest: Digest) -> Self {
        Self {
            call_id,
            parent_call_id: None,
            definition_digest,
            origin: Origin::PROCESS,
            client: None,
            known_by: KnownBy::Process,
            workload: None,
            task_id: None,
            session_id: None,
            trace_id: None,
            deadline: SystemTime::UNIX_EPOCH,
        }
    }
}

impl Effect {
    /// How long the record of such a call is retained.
    pub const fn retention(self) -> Duration {
        match self {
            Self::Read => Duration::from_mins(10),
            Self::Write => Duration::from_hours(24),
        }
    }
}

impl Key {
    /// Estimated bytes of a record without an outcome.
    pub fn bytes(&self) -> usize {
        let request_id = self.request_id.to_string();
        ROW + COPIES_OF_KEY * (self.user.as_str().len() + self.tool.as_str().len() + request_id.len())
    }
}
