//! Decisions on confirmations.

use std::{
    net::IpAddr,
    sync::Arc,
    time::{Duration, SystemTime},
};

use toolwire_base::digest::Digest;
use toolwire_tool::context::{KnownBy, UserId};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decided {
    pub at: SystemTime,
    pub by: UserId,
    /// The face through which the decision was made.
    pub via: String,
    /// The party on whose behalf the decider claims to have decided. Unverified.
    pub on_behalf_of: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    pub verdict: Verdict,
    /// The decider. The transaction replaces the time by its own.
    pub decided: Decided,
    pub reason: String,
    /// How the decider was authenticated, for the audit.
    pub known_by: KnownBy,
    /// The decider's network address, for the audit.
    pub peer: Option<IpAddr>,
    /// The workload that the decider's peer proved to be, for the audit.
    pub workload: Option<Arc<str>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The call may be executed once.
    Approve {
        /// How long the approval lasts.
        use_within: Duration,
        /// The current digest of the tool's definition; `None` if the tool no longer exists.
        definition_digest: Option<Digest>,
    },
    /// The call must not be executed.
    Deny,
}
