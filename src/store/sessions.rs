//! Conversations: the turns of sessions, each as it ended or paused.
//!
//! A turn that runs is not here: a process that goes leaves nothing of it, and its caller begins it again under the
//! same name. Whose it is stands in every key. There is no store of this in memory: tests take a database of their own.

use std::time::{Duration, SystemTime};

use futures_util::future::BoxFuture;

use super::{StoreError, cancellations::Cancellations};
use toolwire_tool::context::{RequestId, SessionId, UserId};

/// So many turns of one session are kept, the newest.
pub const MOST_OF_SESSION: u32 = 200;

/// So many turns of one user are kept, the newest.
pub const MOST_OF_USER: u32 = 1_000;

/// How long a turn is kept after its end.
pub const KEPT: Duration = Duration::from_hours(24 * 30);

/// A turn that ended or paused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptTurn {
    pub user: UserId,
    /// Its name, by which a repeat is recognised.
    pub turn_id: RequestId,
    pub session: SessionId,
    /// The account of the request; empty if none.
    pub account: String,
    /// What the user said.
    pub message: String,
    pub state: State,
    pub created_at: SystemTime,
    /// When it ended or paused.
    pub ended_at: SystemTime,
    /// What was answered; empty if nothing was.
    pub answered: String,
    /// The calls that were planned, as JSON.
    pub calls: String,
    /// Whether it has read text from outside.
    pub tainted: bool,
    /// The encoded end. Empty for a cancelled turn.
    pub reply: Vec<u8>,
    /// What a paused turn goes on from, or what an ended one proposed, as JSON. Empty for all others.
    pub standing: String,
}

/// Where a turn stands that does not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum State {
    /// It waits for persons.
    Paused,
    Ended,
    /// It was cancelled, its caller left, or its time was over.
    Cancelled,
}

/// What a later turn remembers of an earlier one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remembered {
    /// What the user said.
    pub message: String,
    pub answered: String,
    /// The calls that were planned, as JSON.
    pub calls: String,
    /// Whether it had read text from outside.
    pub tainted: bool,
}

/// A session that one turn has to itself, in every process that shares the state, until this is dropped. A process that
/// ends lets go of it, however it ends.
pub struct Hold {
    /// What lets go of it.
    pub guard: Option<Box<dyn Send + Sync>>,
}

/// Who has a session.
#[derive(Debug)]
pub enum Held {
    Now(Hold),
    /// A turn of another process: its name, if it could be read.
    By(String),
}

impl std::fmt::Debug for Hold {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Hold")
    }
}

pub trait Sessions: Cancellations {
    /// Has a session for one turn, if no other process has it.
    fn hold_session(
        &self,
        user: &UserId,
        session: &SessionId,
        turn_id: RequestId,
    ) -> Result<Held, StoreError>;

    /// Keeps a turn, in the place of the one of this name if there is one; forgets the oldest of the session and of the
    /// user beyond what is kept of either.
    fn keep_turn<'a>(&'a self, turn: &'a KeptTurn) -> BoxFuture<'a, Result<(), StoreError>>;

    /// One turn of a user's.
    fn turn<'a>(
        &'a self,
        user: &'a UserId,
        turn_id: RequestId,
    ) -> BoxFuture<'a, Result<Option<KeptTurn>, StoreError>>;

    /// So many turns of a session that come after a position, the oldest first, each with its own.
    fn turns<'a>(
        &'a self,
        user: &'a UserId,
        session: &'a SessionId,
        after: i64,
        limit: u32,
    ) -> BoxFuture<'a, Result<Vec<(i64, KeptTurn)>, StoreError>>;

    /// What the newest turns of a session that were answered say, the oldest first.
    fn remembered<'a>(
        &'a self,
        user: &'a UserId,
        session: &'a SessionId,
        limit: u32,
    ) -> BoxFuture<'a, Result<Vec<Remembered>, StoreError>>;

    /// So many turns of a session in whatever state, the one that ended last first.
    fn newest_turns<'a>(
        &'a self,
        user: &'a UserId,
        session: &'a SessionId,
        limit: u32,
    ) -> BoxFuture<'a, Result<Vec<KeptTurn>, StoreError>>;

    /// The turns of a session that wait for persons, the oldest first.
    fn paused<'a>(
        &'a self,
        user: &'a UserId,
        session: &'a SessionId,
    ) -> BoxFuture<'a, Result<Vec<KeptTurn>, StoreError>>;

    /// Cancels a turn that waits for persons. Whether it did.
    fn cancel_paused<'a>(
        &'a self,
        user: &'a UserId,
        turn_id: RequestId,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<bool, StoreError>>;

    /// Forgets, some at a time, what is kept no longer. Whether there may be more.
    fn sweep_turns(&self, now: SystemTime) -> BoxFuture<'_, Result<bool, StoreError>>;
}
