//! The authenticated user. Comes from verified credentials only, never from what a call claims.

use std::{sync::Arc, time::SystemTime};

use super::{ToolsetName, UserId};

/// The caller's identity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// The user; part of every cache, limit and idempotency key.
    pub id: UserId,
    /// E-mail address, if the credentials carry one.
    pub email: Option<String>,
    /// Role, if the credentials carry one.
    pub role: Option<String>,
    /// How the identity was established.
    pub known_by: KnownBy,
    /// What else a token of an identity provider, or the entry of a workload, says.
    pub grant: Option<Arc<Grant>>,
    /// The SPIFFE id that the peer of the connection proved, beside a token too.
    pub workload: Option<Arc<str>>,
    /// The SPIFFE id that the token proves, if that is a JWT-SVID.
    pub svid: Option<Arc<str>>,
    /// The toolset to which the request narrows the user's tools. It gives no right.
    pub toolset: Option<ToolsetName>,
    /// The toolsets to which the user's token is bound: it has the tools of these alone, whatever the request names.
    /// `None` of one that is not bound.
    pub bound_to: Option<Arc<[ToolsetName]>>,
}

/// What credentials say besides who their user is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The groups of the user, by their ids, such as `corp/support`, or `agents` of a workload.
    pub groups: Vec<String>,
    /// What the user lets the client do.
    pub scopes: Vec<String>,
    /// The end of the token: its expiry with the leeway. `None` of a certificate.
    pub ends_at: Option<SystemTime>,
    /// Why the token is accepted. `None` of a certificate.
    pub acceptance: Option<Acceptance>,
}

/// The settings of an issuer or a trust domain by which a token is accepted, so that a token of settings that no longer
/// hold is recognised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acceptance {
    /// A fingerprint of the settings, within this process; without audiences.
    pub settings: u64,
    /// The audiences of the token that these settings list. Empty if the token names this server's own URL, so that
    /// none of them is needed.
    pub audiences: Vec<String>,
}

/// How the identity was established.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum KnownBy {
    /// Asserted by the process that was started with it.
    Process,
    /// Asserted by a caller on this machine, where credentials are not required.
    Loopback,
    /// A bearer token.
    Token,
    /// A token of an identity provider.
    Issuer,
    /// The token of a workload, signed by its trust domain.
    JwtSvid,
    /// The client certificate of a workload.
    Certificate,
}

impl User {
    /// A user without e-mail address and role, as this program names one.
    pub fn new(id: UserId) -> Self {
        Self {
            id,
            email: None,
            role: None,
            known_by: KnownBy::Process,
            grant: None,
            workload: None,
            svid: None,
            toolset: None,
            bound_to: None,
        }
    }

    /// The SPIFFE id of the workload that the user is, by a certificate alone or by a JWT-SVID. `None` of other users,
    /// whatever the peer proved beside their tokens.
    pub fn own_workload(&self) -> Option<&str> {
        match self.known_by {
            KnownBy::Certificate => self.workload.as_deref(),
            KnownBy::JwtSvid => self.svid.as_deref(),
            KnownBy::Process | KnownBy::Loopback | KnownBy::Token | KnownBy::Issuer => None,
        }
    }

    /// The SPIFFE id for records: of the peer, or without a certificate that of the token.
    pub fn recorded_workload(&self) -> Option<&Arc<str>> {
        self.workload.as_ref().or(self.svid.as_ref())
    }

    /// The same user, whose tools the request narrows to those of this toolset, or does not narrow.
    #[must_use]
    pub fn with_toolset(self, toolset: Option<ToolsetName>) -> Self {
        Self { toolset, ..self }
    }

    /// The same user with all tools that the user's rights give, as a tool's own calls have them.
    #[must_use]
    pub fn without_toolsets(self) -> Self {
        Self { toolset: None, bound_to: None, ..self }
    }

    /// Whether the request or its token leaves tools out.
    pub fn is_narrowed(&self) -> bool {
        self.toolset.is_some() || self.bound_to.is_some()
    }

    /// The one toolset whose tools the user has: that of the request, or else that of the token.
    pub fn only_toolset(&self) -> Option<&ToolsetName> {
        let of_token = || match self.bound_to.as_deref() {
            Some([only]) => Some(only),
            _ => None,
        };
        self.toolset.as_ref().or_else(of_token)
    }

    /// The same user, known so.
    #[must_use]
    pub fn with_known_by(self, known_by: KnownBy) -> Self {
        Self { known_by, ..self }
    }
}
