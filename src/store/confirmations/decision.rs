//! Decisions on confirmations.

use std::{net::IpAddr, time::SystemTime};

use toolwire_base::digest::Digest;
use toolwire_tool::context::{KnownBy, UserId};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decided {
    pub at: SystemTime,
    pub by: UserId,
    /// The face it came by.
    pub via: String,
    /// On whose behalf the decider says to have decided. Unverified.
    pub on_behalf_of: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    pub verdict: Verdict,
    pub decided: Decided,
    pub reason: String,
    /// How the decider is known, for the audit.
    pub known_by: KnownBy,
    /// The address that the decision came from, for the audit.
    pub peer: Option<IpAddr>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The call may be carried out once.
    Approve {
        /// Until when it can be.
        use_until: SystemTime,
        /// The digest of the tool's definition now; `None` if there is no such tool any more.
        definition_digest: Option<Digest>,
    },
    /// It must not be.
    Deny,
}
