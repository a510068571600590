//! Confirmations: decisions of persons on calls. They are stored with the calls that require them, since the
//! transaction that begins a call uses its confirmation.
//!
//! Not here: the right to decide, and the policy of which calls need a confirmation.

mod decision;
pub mod life;
mod outcome;
mod query;
pub(crate) mod rows;

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use serde_json::{Map, Value};

use self::life::State;
pub use self::{
    decision::{Decided, Decision, Verdict},
    outcome::{Ended, REDEFINED_PREFIX},
    query::{Binding, CallRef, Criteria, Cursor, Scope, SequenceRange},
};
use super::idempotency::{ArgumentsDigest, Begun, Key, Quota};
use toolwire_base::digest::Digest;
use toolwire_contract::{
    ConfirmationCause, ConfirmationId, ConfirmationRequired, ConsoleLinks, Crowding, ToolName, proto::v1,
};
use toolwire_tool::context::{CallId, Outermost, SessionId, TaskLabel};

/// Maximum number of pending confirmations per user.
pub const MAX_PENDING_PER_USER: u32 = 100;

/// Maximum number of pending confirmations of all users.
pub const MAX_PENDING: u32 = 10_000;

/// Maximum bytes of arguments in a page of a list. An encoded message can be up to seven times as large.
pub const MAX_PAGE_BYTES: usize = 512 * 1024;

/// How long a denial also applies to equal calls without a `request_id`, so that a person is not asked again at once.
pub const DENIAL_RETENTION: Duration = Duration::from_mins(10);

/// How long change events of confirmations are retained.
pub const EVENT_RETENTION: Duration = Duration::from_hours(24 * 90);

/// How long the arguments of a confirmation are retained after its end.
pub const ARGUMENT_RETENTION: Duration = Duration::from_hours(24 * 30);

/// The quota of confirmations in bytes. If it is exceeded, the arguments of ended confirmations are deleted, the
/// earliest first; if that is not enough, new confirmations are refused. Open confirmations are never affected.
pub const QUOTA: Quota = Quota { of_user: 256 * 1024 * 1024, of_all: 2 * 1024 * 1024 * 1024 };

/// A decision of a person on one exact call, pending or made.
#[derive(Clone, Debug, PartialEq)]
pub struct Confirmation {
    pub id: ConfirmationId,
    pub state: State,
    /// The user, the tool and the `request_id` of the call.
    pub key: Key,
    pub asked: ConfirmationRequest,
    pub arguments_digest: ArgumentsDigest,
    pub created_at: SystemTime,
    /// When it expires: undecided, or unused once approved.
    pub expires_at: SystemTime,
    pub decided: Option<Decided>,
    /// The decider's reason, or why it ended without a decision.
    pub reason: String,
    /// When it was used, and by which call.
    pub used: Option<(SystemTime, CallId)>,
    /// The position of its last change among the changes of all users.
    pub sequence: u64,
    /// The position of its last change among the changes of its user.
    pub position: u64,
    /// Whether its arguments are omitted because they are long, as in lists.
    pub is_cut: bool,
}

/// The subject of a decision. Fixed when it is requested, so that the executed call is exactly the one that a person
/// saw.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfirmationRequest {
    /// The caller's e-mail address, if the credentials contain one.
    pub user_email: Option<String>,
    /// The face that the call came by; empty in those of an earlier version.
    pub face: String,
    /// What the caller's program says it is; empty if it says nothing.
    pub client: String,
    /// The path of nested calls, from the outermost tool to the one that requires the confirmation.
    pub path: Vec<ToolName>,
    /// What the call will do, for the person who decides.
    pub summary: String,
    /// The exact arguments. `None` after their retention.
    pub arguments: Option<Map<String, Value>>,
    /// Digest of the tool's definition.
    pub definition_digest: Digest,
    /// The definition as an encoded `toolwire.v1.ToolDefinition`, stored once for all requests with its digest. Empty
    /// in a request that is read.
    pub definition: Bytes,
    /// What the call may change.
    pub category: v1::ToolCategory,
    pub consequence_level: v1::ConsequenceLevel,
    /// Why a confirmation is required.
    pub cause: ConfirmationCause,
    /// The task on whose behalf the call is made.
    pub task_id: Option<TaskLabel>,
    pub session_id: Option<SessionId>,
    /// The outermost call, which is this call or contains it.
    pub outermost: Outermost,
}

/// The result of beginning a call that requires a confirmation.
#[derive(Clone, Debug)]
pub enum Admission {
    /// The result by the call's record. With `New`, the confirmation is used, and the caller must execute the call.
    Begun(Begun),
    /// A person must approve it first.
    Asks(Box<Confirmation>),
    /// A limit on confirmations is reached.
    TooMany {
        crowding: Crowding,
        /// Whether it is the user's own limit, rather than that of all users.
        own: bool,
        /// When another confirmation is expected to fit.
        until: SystemTime,
    },
}

/// The result of a decision.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The confirmation after the decision.
    pub confirmation: Confirmation,
    /// Whether the decision, or an equal earlier one, took effect.
    pub holds: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The confirmation after the change.
    pub confirmation: Confirmation,
    pub at: SystemTime,
}

/// A page of confirmations. Arguments of more than 16 KiB are omitted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    pub confirmations: Vec<Confirmation>,
    pub more: bool,
}

impl Confirmation {
    /// Whether it can still be decided or used.
    pub fn is_open(&self, now: SystemTime) -> bool {
        self.state.is_open() && now < self.expires_at
    }

    /// Whether it has expired, though its state does not record that yet.
    pub fn is_overdue(&self, now: SystemTime) -> bool {
        self.state.is_open() && self.expires_at <= now
    }

    /// The response to the caller in place of a result, with where a person decides.
    pub fn required(&self, console: &ConsoleLinks) -> ConfirmationRequired {
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
            url: console.confirmation(&self.id),
        }
    }

    /// The position of its last change within a scope.
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
