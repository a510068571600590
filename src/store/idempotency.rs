//! The records of calls with a `request_id`: that they began, and how they ended. Their bytes are bounded, of each user
//! and of all.

pub mod life;

use std::{
    fmt::Debug,
    future::ready,
    time::{Duration, SystemTime},
};

use futures_util::future::BoxFuture;
use opentelemetry::trace::TraceId;

use super::StoreError;
use toolwire_base::digest::Digest;
use toolwire_contract::{ToolName, ToolResult, payload::StoredPayload};
use toolwire_tool::context::{CallId, KnownBy, Origin, RequestId, SessionId, TaskLabel, UserId};

/// The bytes that records may have. Beyond them new writes are refused rather than old records deleted: without its
/// record a write could be repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    pub of_user: u64,
    /// The bytes of all users. The first half goes to those who come first; the second one is kept for users who have
    /// less than a fair share, so that each of these finds room however much others have taken.
    pub of_all: u64,
}

/// Which bound leaves no room for another record of a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    User,
    /// That of all users.
    All,
}

/// The number of users who find a fair share in the half that is kept for it.
const FAIR_SHARES: u64 = 1024;

/// The bytes of a record beside its columns of variable length.
const ROW: usize = 512;

/// The table and its indexes hold the columns of the key this often.
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
    pub user: UserId,
    pub tool: ToolName,
    pub request_id: RequestId,
}

/// SHA-256 over the canonical text of the checked arguments.
pub type ArgumentsDigest = Digest;

/// A call with a `request_id`, as it begins.
#[derive(Clone, Copy, Debug)]
pub struct Beginning<'a> {
    /// Whose call of which tool it is, by which identifier.
    pub key: &'a Key,
    pub effect: Effect,
    pub digest: ArgumentsDigest,
    /// What is recorded of it for those who look at it later.
    pub about: &'a About,
}

/// What is recorded of a call for those who look at it later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    pub call_id: CallId,
    pub parent_call_id: Option<CallId>,
    /// Digest of the tool's definition.
    pub definition_digest: Digest,
    /// Where it came from.
    pub origin: Origin,
    /// How its user is known.
    pub known_by: KnownBy,
    /// The task on whose behalf it is made.
    pub task_id: Option<TaskLabel>,
    pub session_id: Option<SessionId>,
    pub trace_id: Option<TraceId>,
    /// By when it ends, whatever happens.
    pub deadline: SystemTime,
}

/// What a call with a `request_id` meets.
#[derive(Clone, Debug)]
pub enum Begun {
    /// Nothing is known of it: it is recorded as begun, and must now be carried out.
    New,
    /// A person was asked to approve it; a store of confirmations goes on with it. Nothing was done.
    Asked,
    /// It was begun before and its end is not recorded.
    Unfinished {
        /// When it was begun.
        begun: SystemTime,
    },
    /// It ended like this.
    Ended(Box<ToolResult<StoredPayload>>),
    /// It was used before with other arguments.
    Conflict,
    /// Writes leave no room for another record: the user's own, or those of all users.
    Full {
        /// When room is expected: as soon as enough of them are forgotten.
        until: SystemTime,
        bound: Bound,
    },
    /// It cannot be recorded, and so must not be carried out. The detail is for operators.
    Unavailable(StoreError),
}

/// The process that carries out a call that was begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A living process other than this one, as the call of this id.
    Elsewhere(CallId),
    /// None that is known: this process does not know of it, or its owner is gone.
    Lost,
    /// None any more: it has ended, was forgotten, or waits for a person.
    Over,
}

/// How a call came to an end that another process carried out.
#[derive(Clone, Debug)]
pub enum EndElsewhere {
    Ended(Box<ToolResult<StoredPayload>>),
    /// It was cancelled, and nothing was done.
    Cancelled,
    /// Its process is gone, or nothing was done: what the call meets now is to be looked at again.
    Unsettled,
}

/// Remembers calls with a `request_id`. A store of one process knows of no other, which is what the provided methods
/// say.
pub trait Idempotency: Send + Sync + Debug {
    /// Records the beginning at the given time, unless it is recorded already. Reads make room for others of their
    /// user.
    fn begin<'a>(&'a self, call: Beginning<'a>, now: SystemTime) -> BoxFuture<'a, Begun>;
    /// Records the end. Unless it succeeds, the call stays unfinished.
    fn end<'a>(&'a self, key: &'a Key, result: &'a ToolResult) -> BoxFuture<'a, Result<(), StoreError>>;
    /// Records that a call waits for a person who must approve a call that it made. It did nothing itself that must not
    /// be done again, and is begun again when it comes again.
    fn suspend<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<(), StoreError>>;
    /// Forgets a call that turned out not to have done anything, so that it can be tried again. `code` is how it ended.
    fn forget<'a>(&'a self, key: &'a Key, code: &'a str) -> BoxFuture<'a, Result<(), StoreError>>;
    /// Which process carries out a call that is unfinished.
    fn owner<'a>(&'a self, _key: &'a Key) -> BoxFuture<'a, Result<Owner, StoreError>> {
        Box::pin(ready(Ok(Owner::Lost)))
    }
    /// Waits until a call comes to an end that another process carries out as the given one, or that process is gone.
    fn ended_elsewhere<'a>(&'a self, _key: &'a Key, _call_id: CallId) -> BoxFuture<'a, EndElsewhere> {
        Box::pin(ready(EndElsewhere::Unsettled))
    }
    /// Asks the process that carries a call of a user's out to cancel it.
    fn cancel_owner<'a>(
        &'a self,
        _user: &'a UserId,
        _call_id: CallId,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(ready(Ok(())))
    }
}

impl Default for Quota {
    /// A million small writes of one user, and eight times as many of all.
    fn default() -> Self {
        Self::of_users(1024 * 1024 * 1024)
    }
}

impl Quota {
    /// That many bytes of one user, and eight times as many of all.
    pub fn of_users(of_user: u64) -> Self {
        Self { of_user, of_all: of_user.saturating_mul(8) }
    }

    /// The bytes that a user may have however much others have taken.
    pub fn fair_share(self) -> u64 {
        (self.of_all / 2 / FAIR_SHARES).max(1)
    }

    /// The bound that leaves no room for another record, by the bytes of its user and of all, and the bytes that must
    /// be deleted before there is room.
    pub fn full(self, user: u64, all: u64) -> Option<(Bound, u64)> {
        let of_all = if user < self.fair_share() { self.of_all } else { self.of_all / 2 };
        let excess = |used: u64, limit: u64| used.checked_sub(limit).map(|excess| excess + 1);
        let own = excess(user, self.of_user).map(|it| (Bound::User, it));
        own.or_else(|| excess(all, of_all).map(|it| (Bound::All, it)))
    }
}

impl About {
    /// Nothing but the call and the definition.
    pub fn of(call_id: CallId, definition_digest: Digest) -> Self {
        Self {
            call_id,
            parent_call_id: None,
            definition_digest,
            origin: Origin::PROCESS,
            known_by: KnownBy::Process,
            task_id: None,
            session_id: None,
            trace_id: None,
            deadline: SystemTime::UNIX_EPOCH,
        }
    }
}

impl Effect {
    /// How long the record of such a call is kept.
    pub const fn retention(self) -> Duration {
        match self {
            Self::Read => Duration::from_mins(10),
            Self::Write => Duration::from_hours(24),
        }
    }
}

impl Key {
    /// The bytes of a record without an outcome.
    pub fn bytes(&self) -> usize {
        let request_id = self.request_id.to_string();
        ROW + COPIES_OF_KEY * (self.user.as_str().len() + self.tool.as_str().len() + request_id.len())
    }
}
