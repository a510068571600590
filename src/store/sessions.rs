//! Conversations: the turns of sessions, each as it ended or paused.
//!
//! A turn that runs is not here: a process that goes leaves nothing of it, and its caller begins it again under the
//! same name. Whose it is stands in every key. There is no store of this in memory: tests take a database of their own.

use std::time::{Duration, SystemTime};

use toolwire_tool::context::{RequestId, SessionId, UserId};

/// The number of turns that are kept of one session, the newest.
pub const MOST_OF_SESSION: u32 = 200;

/// The number of turns that are kept of one user, the newest.
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

/// The state of a turn that does not run.
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

/// Keeps a session for one turn, in every process that shares the state, until it is dropped or its process ends.
pub struct Hold {
    /// Releases the session when it is dropped.
    pub guard: Option<Box<dyn Send + Sync>>,
}

/// The outcome of holding a session.
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
