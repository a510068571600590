//! Confirmations: decisions of persons on calls. One store holds them and the calls that need them, since the
//! transaction that begins a call uses its confirmation.
//!
//! Not here: who may decide, and what needs a confirmation.

mod decision;
pub mod life;
mod outcome;
mod query;

use std::time::{Duration, SystemTime};

use serde_json::{Map, Value};

use self::life::State;
pub use self::{
    decision::{Decided, Decision, Verdict},
    outcome::{Ended, REDEFINED},
    query::{Binding, CallRef, Criteria, Cursor, Scope, SequenceRange},
};
use super::idempotency::{ArgumentsDigest, Begun, Key, Quota};
use toolwire_base::digest::Digest;
use toolwire_contract::{
    ConfirmationCause, ConfirmationId, ConfirmationRequired, Crowding, ToolName, proto::v1,
};
use toolwire_tool::context::{CallId, Outermost, SessionId, TaskLabel};

/// The most pending confirmations of one user.
pub const MAX_PENDING_OF_USER: u32 = 100;

/// The most pending confirmations of all users.
pub const MAX_PENDING: u32 = 10_000;

/// The most bytes of arguments in a page of a list. In a message they are up to seven times as many.
pub const MAX_PAGE_BYTES: usize = 512 * 1024;

/// How long a denial answers equal calls without an identifier, so that a person is not asked the same again at once.
pub const DENIAL_ANSWERS: Duration = Duration::from_mins(10);

/// How long the changes of confirmations are kept.
pub const EVENTS_KEPT: Duration = Duration::from_hours(24 * 90);

/// How long the arguments of a confirmation are kept after its end.
pub const ARGUMENTS_KEPT: Duration = Duration::from_hours(24 * 30);

/// The quota of confirmations in bytes. Beyond it, the arguments of those that ended are deleted, the earliest first;
/// where that is not enough, none is requested any more. Nothing is deleted of one that is open.
pub const QUOTA: Quota = Quota { of_user: 256 * 1024 * 1024, of_all: 2 * 1024 * 1024 * 1024 };

/// A decision of a person on one exact call.
#[derive(Clone, Debug, PartialEq)]
pub struct Confirmation {
    pub id: ConfirmationId,
    pub state: State,
    /// Whose call of which tool it is, by which identifier.
    pub key: Key,
    /// What is decided on.
    pub asked: ConfirmationRequest,
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

/// What is decided on: fixed when it is requested, so that the call which a person saw is the one that is executed.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfirmationRequest {
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

/// Whether a call that needs a confirmation may begin.
#[derive(Clone, Debug)]
pub enum Admission {
    /// What its record says. `New`: its confirmation is used, and it must now be carried out.
    Begun(Begun),
    /// A person must approve it first.
    Asks(Box<Confirmation>),
    /// A bound on confirmations is reached: the user's own, or that of all users.
    TooMany {
        /// Which bound.
        crowding: Crowding,
        /// Whether it is the user's own.
        own: bool,
        /// When another can be expected to fit.
        until: SystemTime,
    },
}

/// The result of a decision.
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

impl Confirmation {
    /// Whether it can still be decided or used at the given time.
    pub fn is_open(&self, now: SystemTime) -> bool {
        self.state.is_open() && now < self.expires_at
    }

    /// Whether it was not decided, or not used, in time, and its state does not say so yet.
    pub fn is_overdue(&self, now: SystemTime) -> bool {
        self.state.is_open() && self.expires_at <= now
    }

    /// What the caller receives instead of a result.
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
    pub fn at(&self, scope: &Scope) -> u64 {
        match scope {
            Scope::All => self.sequence,
            Scope::Own(_) => self.position,
        }
    }

    pub fn cursor(&self, scope: &Scope) -> Cursor {
        match self.state {
            State::Pending => Cursor::Pending(self.at(scope)),
            _ => Cursor::Other(self.at(scope)),
        }
    }
}
