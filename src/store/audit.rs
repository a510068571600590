//! The audit: a record of each write, by a call or by a request that is none, and of each decision on a confirmation or
//! of its end without one. Written in the change that it is about; never with arguments.
//!
//! Not here: the right to see a record.

use std::time::{Duration, SystemTime};

use opentelemetry::trace::TraceId;

use toolwire_base::digest::Digest;
use toolwire_tool::context::{KnownBy, Origin, UserId};

/// How long records are kept.
pub const KEPT: Duration = Duration::from_hours(24 * 90);

/// How a request came that is no call, for the records of what it changes.
#[derive(Clone, Copy, Debug)]
pub struct By {
    /// How its user is known.
    pub known_by: KnownBy,
    /// Where it came from.
    pub origin: Origin,
    pub trace_id: Option<TraceId>,
}

tokio::task_local! {
    static BY: By;
}

/// Runs the work of a request: records of what it changes say how it came.
pub async fn on_behalf<T>(by: By, doing: impl Future<Output = T>) -> T {
    BY.scope(by, doing).await
}

/// How the current request came; from this program itself outside of one.
pub fn by() -> By {
    let own = By { known_by: KnownBy::Process, origin: Origin::PROCESS, trace_id: None };
    BY.try_with(|by| *by).unwrap_or(own)
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Its position among the records that the viewer sees.
    pub sequence: u64,
    pub kind: Kind,
    pub at: SystemTime,
    /// When it ended, if that is known.
    pub ended_at: Option<SystemTime>,
    /// The user who did it; without one, the user whose call it was.
    pub user: String,
    /// How the user is known.
    pub known_by: String,
    /// The address that the user came from.
    pub peer: Option<String>,
    pub face: String,
    /// The user whose call it is.
    pub caller: String,
    /// The tool; of a request that is no call, its method.
    pub tool: String,
    /// Digest of the tool's definition, if it is one.
    pub definition_digest: Option<Digest>,
    pub arguments_digest: Digest,
    /// What was allowed or decided.
    pub verdict: Verdict,
    /// How a write ended; empty if that is not known.
    pub code: String,
    pub call_id: String,
    /// The identifier of the call.
    pub request_id: String,
    /// The trace; empty if none.
    pub trace_id: String,
    /// The task; empty if none.
    pub task_id: String,
    /// The confirmation; empty if none.
    pub confirmation_id: String,
    /// The decider; empty if no decision was needed.
    pub approver: String,
    /// On whose behalf the decider says to have decided.
    pub on_behalf_of: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Kind {
    /// A write, or another call that a person approved, began.
    Write,
    /// A person decided, or a confirmation ended without a decision.
    Decision,
}

/// What was allowed or decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Verdict {
    /// It needed no approval.
    Allowed,
    Approved,
    Denied,
    /// It was not decided, or not used, in time.
    Expired,
    /// The call was cancelled.
    Withdrawn,
    /// The tool's definition changed.
    Voided,
}

/// Selects records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Criteria {
    /// What this user may see: what the user did, and decisions on the user's calls. `None`: everything.
    pub seen_by: Option<UserId>,
    pub filter: Filter,
}

/// Criteria, combined with AND.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Any of these tools; any at all if there is none.
    pub tools: Vec<String>,
    /// What this user did.
    pub user: Option<UserId>,
    /// Any of these; any at all if there is none.
    pub kinds: Vec<Kind>,
    /// At or after this instant.
    pub since: Option<SystemTime>,
    pub until: Option<SystemTime>,
    /// The call; any if empty.
    pub call_id: String,
    /// The confirmation; any if empty.
    pub confirmation_id: String,
}
