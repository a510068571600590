//! The audit log: a record of each write, whether by a tool call or by another request, and of each confirmation's
//! decision or other end. Written in the transaction that makes the change; never contains arguments.
//!
//! Not here: access control of the log.

pub(crate) mod log_records;
pub(crate) mod rows;

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use opentelemetry::trace::TraceId;

use toolwire_base::digest::Digest;
use toolwire_tool::context::{KnownBy, Origin, UserId};

pub const RETENTION: Duration = Duration::from_hours(24 * 90);

/// The origin of a request other than a tool call, for the records of its changes.
#[derive(Clone, Debug)]
pub struct RequestOrigin {
    /// How the user was authenticated.
    pub known_by: KnownBy,
    /// The workload that the peer proved to be.
    pub workload: Option<Arc<str>>,
    pub origin: Origin,
    pub trace_id: Option<TraceId>,
}

tokio::task_local! {
    static ORIGIN: RequestOrigin;
}

/// Runs the work of a request: records of its changes name this origin.
pub async fn on_behalf<T>(origin: RequestOrigin, doing: impl Future<Output = T>) -> T {
    ORIGIN.scope(origin, doing).await
}

/// The origin of the current request; outside of a request, this process.
pub fn current_origin() -> RequestOrigin {
    let own =
        RequestOrigin { known_by: KnownBy::Process, workload: None, origin: Origin::PROCESS, trace_id: None };
    ORIGIN.try_with(Clone::clone).unwrap_or(own)
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Its position among the records that the viewer may see.
    pub sequence: u64,
    pub kind: Kind,
    pub at: SystemTime,
    /// When the operation ended, if that is known.
    pub ended_at: Option<SystemTime>,
    /// The acting user; if there is none, the user whose call it was.
    pub user: String,
    /// How the user was authenticated.
    pub known_by: String,
    /// The user's network address.
    pub peer: Option<String>,
    /// The SPIFFE id that the peer proved; empty if there is none.
    pub workload: String,
    pub face: String,
    /// The user who made the call.
    pub caller: String,
    /// The tool, or the method of a request other than a tool call.
    pub tool: String,
    /// Digest of the tool's definition; `None` for a method.
    pub definition_digest: Option<Digest>,
    pub arguments_digest: Digest,
    pub verdict: Verdict,
    /// The code with which a write ended; empty if that is not known.
    pub code: String,
    pub call_id: String,
    /// The idempotency key of the call.
    pub request_id: String,
    /// The trace; empty if there is none.
    pub trace_id: String,
    /// The task; empty if there is none.
    pub task_id: String,
    /// The confirmation; empty if there is none.
    pub confirmation_id: String,
    /// The decider; empty if no decision was needed.
    pub approver: String,
    /// The party on whose behalf the decider claims to have decided.
    pub on_behalf_of: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Kind {
    /// The beginning of a write, or of another call that a person approved.
    Write,
    /// A decision of a person, or another end of a confirmation.
    Decision,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Verdict {
    /// No approval was needed.
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

/// A query of the log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Criteria {
    /// Only records that this user may see: the user's own actions, and decisions on the user's calls. `None` for all
    /// records.
    pub seen_by: Option<UserId>,
    pub filter: Filter,
}

/// Criteria, combined with AND; empty ones match every record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Any of these tools.
    pub tools: Vec<String>,
    /// Actions of this user.
    pub user: Option<UserId>,
    /// Any of these kinds.
    pub kinds: Vec<Kind>,
    /// At or after this instant.
    pub since: Option<SystemTime>,
    pub until: Option<SystemTime>,
    pub call_id: String,
    pub confirmation_id: String,
}
