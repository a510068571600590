//! Confirmations: decisions of persons on calls, and the calls that need them. One store holds both, since what is used
//! and what is begun is one change.
//!
//! Not here: who may decide, and what needs a confirmation. There is no store of this in memory: what was acknowledged
//! outlives the process, and tests take a database of their own.

mod decision;
pub mod life;
mod query;
mod wait;

use std::time::{Duration, SystemTime};

use futures_util::future::BoxFuture;
use serde_json::{Map, Value};
use tokio::sync::watch;

use self::life::State;
pub use self::{
    decision::{Decided, Decision, Verdict},
    query::{Among, Binding, Criteria, Kept, Of, Place},
    wait::may_have_changed,
};
use super::{
    StoreError,
    idempotency::{ArgumentsDigest, Beginning, Begun, Idempotency, Key, Room},
    secret::Secret,
};
use toolwire_base::digest::Digest;
use toolwire_contract::{
    ConfirmationCause, ConfirmationId, ConfirmationRequired, Crowding, ToolName, proto::v1,
};
use toolwire_tool::context::{CallId, Outermost, RequestId, SessionId, TaskLabel, UserId};

/// So many of one user's confirmations may be pending.
pub const MAX_PENDING_OF_USER: u32 = 100;

/// So many confirmations may be pending in all.
pub const MAX_PENDING: u32 = 10_000;

/// So many bytes of arguments are in a part of a list. In a message they are up to seven times as many.
pub const MAX_PAGE_BYTES: usize = 512 * 1024;

/// A denial answers calls without an identifier for so long, so that nobody is asked the same again at once.
pub const DENIAL_ANSWERS: Duration = Duration::from_mins(10);

/// How long the changes of confirmations are kept.
pub const EVENTS_KEPT: Duration = Duration::from_hours(24 * 90);

/// How long the arguments of a confirmation are kept after its end.
pub const ARGUMENTS_KEPT: Duration = Duration::from_hours(24 * 30);

/// How many bytes are kept of confirmations: those of one user, and of all. Then the arguments of those that ended are
/// forgotten, the earliest first, and no other is asked for where that does not help. What is open is never forgotten.
pub const ROOM: Room = Room { of_user: 256 * 1024 * 1024, of_all: 2 * 1024 * 1024 * 1024 };

/// A decision of a person on one exact call.
#[derive(Clone, Debug, PartialEq)]
pub struct Confirmation {
    pub id: ConfirmationId,
    pub state: State,
    /// Whose call of which tool it is, by which identifier.
    pub key: Key,
    /// What is decided on.
    pub asked: Asked,
    pub arguments_digest: ArgumentsDigest,
    /// When it was asked for.
    pub created_at: SystemTime,
    /// Until when it can be decided; once approved, until when it can be used.
    pub expires_at: SystemTime,
    /// The decision, once there is one.
    pub decided: Option<Decided>,
    /// The decider's words, or why it ended otherwise.
    pub reason: String,
    /// When and by which call it was used.
    pub used: Option<(SystemTime, CallId)>,
    /// The position of its last change among those of all.
    pub sequence: u64,
    /// The same among those of its user.
    pub position: u64,
    /// Whether its arguments are left out because they are long, as in lists.
    pub is_cut: bool,
}

/// What is decided on: fixed when it is asked for, so that what a person saw is what is carried out.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// The caller's e-mail address, if the credentials carry one.
    pub user_email: Option<String>,
    /// The tools from the called one to the one that needs it.
    pub path: Vec<ToolName>,
    /// What the call will do, for the person.
    pub summary: String,
    /// The exact arguments. `None` once they are forgotten.
    pub arguments: Option<Map<String, Value>>,
    /// Digest of the tool's definition.
    pub definition_digest: Digest,
    /// What the call may change.
    pub category: v1::ToolCategory,
    /// The impact on the real world.
    pub consequence_level: v1::ConsequenceLevel,
    /// Why it is needed.
    pub cause: ConfirmationCause,
    /// The task on whose behalf the call is made.
    pub task_id: Option<TaskLabel>,
    pub session_id: Option<SessionId>,
    /// The call from outside that this call is, or is a part of.
    pub outermost: Outermost,
}

/// What a call meets that needs a confirmation.
#[derive(Clone, Debug)]
pub enum Opened {
    /// What its record says. `New`: its confirmation is used, and it must now be carried out.
    Begun(Begun),
    /// A person must approve it first.
    Asks(Box<Confirmation>),
    /// There are too many confirmations: the user's own, or in all.
    TooMany {
        /// What there is too much of.
        crowding: Crowding,
        /// Whether they are the user's own.
        own: bool,
        /// When room is expected.
        until: SystemTime,
    },
}

/// What a decision came to.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The confirmation as it stands now.
    pub confirmation: Confirmation,
    /// Whether it stands as decided.
    pub holds: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The confirmation as it stood after the change.
    pub confirmation: Confirmation,
    pub at: SystemTime,
}

/// A part of a list of confirmations. Arguments of more than 16 KiB are left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    pub confirmations: Vec<Confirmation>,
    /// Whether there is more.
    pub more: bool,
}

/// A list of confirmations, or what came of asking for one.
pub type Listed<T> = Result<Vec<T>, StoreError>;

/// Keeps confirmations, in one store with the calls that need them.
pub trait Confirmations: Idempotency + Secret {
    /// Begins a call that needs a confirmation, in one change: a call that was begun before meets its record; one whose
    /// confirmation is approved uses it; otherwise a person is asked, until `expires_at`, unless one is already.
    fn begin_confirmed<'a>(
        &'a self,
        begins: Beginning<'a>,
        asked: &'a Asked,
        expires_at: SystemTime,
        now: SystemTime,
    ) -> BoxFuture<'a, Opened>;

    /// The identifier of the newest confirmation of a call that has none itself: one that is open, or was denied of
    /// late.
    fn adopt<'a>(
        &'a self,
        binding: Binding<'a>,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Option<RequestId>, StoreError>>;

    /// One confirmation as it stands at the given time.
    fn find<'a>(
        &'a self,
        id: &'a ConfirmationId,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Option<Confirmation>, StoreError>>;

    /// Decides. `None` if there is no such confirmation.
    fn decide<'a>(
        &'a self,
        id: &'a ConfirmationId,
        decision: &'a Decision,
    ) -> BoxFuture<'a, Result<Option<Outcome>, StoreError>>;

    /// Withdraws what is open of a user's call that is cancelled. How many there were.
    fn withdraw<'a>(
        &'a self,
        user: &'a UserId,
        of: Of,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<usize, StoreError>>;

    /// Ends what was not decided or not used in time, some at a time. How many there were.
    fn expire(&self, now: SystemTime) -> BoxFuture<'_, Result<usize, StoreError>>;

    /// Forgets what is kept no longer.
    fn sweep(&self, now: SystemTime) -> BoxFuture<'_, Result<(), StoreError>>;

    /// At most so many confirmations from a place on, for a user who looks. It ends at [`MAX_PAGE_BYTES`].
    fn list<'a>(
        &'a self,
        viewer: (&'a UserId, &'a Among),
        criteria: &'a Criteria,
        from: Option<Place>,
        limit: u32,
    ) -> BoxFuture<'a, Result<Page, StoreError>>;

    /// What is open and last changed after the one position and up to the other, in order of change, for a user who
    /// looks. It ends at [`MAX_PAGE_BYTES`].
    fn open_now<'a>(
        &'a self,
        viewer: (&'a UserId, &'a Among),
        criteria: &'a Criteria,
        between: (u64, u64),
    ) -> BoxFuture<'a, Result<Page, StoreError>>;

    /// At most so many changes after a position, in order. They end at [`MAX_PAGE_BYTES`]; none: there are none yet.
    fn changes<'a>(&'a self, among: &'a Among, after: u64, limit: u32) -> BoxFuture<'a, Listed<Change>>;

    /// The positions of the changes that are kept.
    fn kept<'a>(&'a self, among: &'a Among) -> BoxFuture<'a, Result<Kept, StoreError>>;

    /// Tells, by changing, that this process changed something. Others are seen by looking.
    fn changed(&self) -> watch::Receiver<u64>;

    /// Tells, by changing, that this confirmation may have changed: at once if this process changed it, otherwise when
    /// somebody [looks](Self::look).
    fn changes_of(&self, id: &ConfirmationId) -> watch::Receiver<()>;

    /// Looks for what other processes changed. However many do so, it is looked for once.
    fn look(&self) -> BoxFuture<'_, ()>;
}

impl Confirmation {
    /// Whether it can still be decided or used at the given time.
    pub fn is_open(&self, now: SystemTime) -> bool {
        self.state.is_open() && now < self.expires_at
    }

    /// What the caller is told.
    pub fn required(&self) -> ConfirmationRequired {
        let asked = &self.asked;
        ConfirmationRequired {
            confirmation_id: self.id.clone(),
            summary: asked.summary.clone(),
            arguments: asked.arguments.clone().unwrap_or_default(),
            expires_at: self.expires_at,
            tool: self.key.tool.clone(),
            path: asked.path.clone(),
            request_id: asked.outermost.request_id.to_string(),
            consequence_level: asked.consequence_level,
            definition_digest: asked.definition_digest,
            cause: asked.cause,
        }
    }

    /// The position of its last change.
    pub fn at(&self, among: &Among) -> u64 {
        match among {
            Among::All => self.sequence,
            Among::Own(_) => self.position,
        }
    }

    pub fn place(&self, among: &Among) -> Place {
        match self.state {
            State::Pending => Place::Pending(self.at(among)),
            _ => Place::Other(self.at(among)),
        }
    }
}
