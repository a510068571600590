//! Conversations: the turns of sessions, stored when they end or pause.
//!
//! A running turn is not stored: if its process ends, the caller begins it again under the same `turn_id`. Every key
//! contains the user. There is no in-memory implementation: tests use a database of their own.

pub(crate) mod rows;

use std::time::{Duration, SystemTime};

use toolwire_tool::context::{RequestId, SessionId, UserId};

/// Maximum number of turns retained per session; the oldest are deleted.
pub const MAX_TURNS_PER_SESSION: u32 = 200;

/// Maximum number of turns retained per user; the oldest are deleted.
pub const MAX_TURNS_PER_USER: u32 = 1_000;

/// How long a turn is retained after its end.
pub const RETENTION: Duration = Duration::from_hours(24 * 30);

/// A turn that ended or paused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredTurn {
    pub user: UserId,
    /// Idempotency key of the turn.
    pub turn_id: RequestId,
    pub session: SessionId,
    /// The account of the request; empty if there is none.
    pub account: String,
    /// What the user said.
    pub message: String,
    pub state: State,
    pub created_at: SystemTime,
    /// When it ended or paused.
    pub ended_at: SystemTime,
    /// The answer; empty if there is none.
    pub answered: String,
    /// The planned calls, as JSON.
    pub calls: String,
    /// Whether it has read untrusted text, which taints it.
    pub tainted: bool,
    /// The encoded reply. Empty for a cancelled turn.
    pub reply: Vec<u8>,
    /// The checkpoint from which a paused turn resumes, or the proposal of an ended one, as JSON. Empty for all others.
    pub standing: String,
}

/// The state of a turn that is not running.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum State {
    /// It waits for decisions of persons.
    Paused,
    Ended,
    /// It was cancelled, its caller disconnected, or its deadline passed.
    Cancelled,
}

/// The part of an earlier turn that later turns are given as context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastTurn {
    /// What the user said.
    pub message: String,
    pub answered: String,
    /// The planned calls, as JSON.
    pub calls: String,
    /// Whether it had read untrusted text.
    pub tainted: bool,
}

/// Exclusive use of a session by one turn, across all processes that share the state. Released when it is dropped or
/// its process ends.
pub struct SessionGuard {
    /// Releases the session when dropped. `None` if no other process can use the session.
    pub guard: Option<Box<dyn Send + Sync>>,
}

/// The result of an attempt to acquire a session.
#[derive(Debug)]
pub enum SessionLock {
    Acquired(SessionGuard),
    /// Held by a turn of another process: its name, or an empty string if that could not be read.
    HeldBy(String),
}

impl std::fmt::Debug for SessionGuard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SessionGuard")
    }
}
