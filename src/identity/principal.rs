//! What a verified token proves.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, SystemTime},
};

use tokio::time::Instant;

use crate::SpiffeId;
use toolwire_base::clock;
use toolwire_tool::context::{Grant, ToolsetName, UserId};

/// How long a token is not verified again.
const FRESH: Duration = Duration::from_mins(1);

/// What a token proves. Not here: the token itself, and what its user may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    pub subject: Subject,
    /// Unless the issuer says that it is not verified.
    pub email: Option<String>,
    /// The audiences of the token, of which one is configured.
    pub audiences: Vec<String>,
    pub grant: Arc<Grant>,
    /// The toolsets to which the token is bound; `None` if it is not bound.
    pub bound_to: Option<Arc<[ToolsetName]>>,
    /// Until when the token needs no verification.
    pub(crate) fresh_until: Instant,
}

/// The owner of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    User(UserId),
    /// A host of this provider, which is no user.
    Host(Arc<str>),
    /// A workload of a trust domain. The settings say which user or provider that is.
    Workload(SpiffeId),
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User(user) => f.write_str(user.as_str()),
            Self::Host(provider) => f.write_str(provider),
            Self::Workload(id) => f.write_str(id.as_str()),
        }
    }
}

impl Principal {
    /// Whether the token needs no verification.
    pub fn is_fresh(&self) -> bool {
        self.fresh_until > clock::now()
    }
}

/// The instant until which a token that ends at `ends_at` needs no verification.
pub(crate) fn fresh_until(ends_at: SystemTime, now: SystemTime) -> Instant {
    clock::now() + ends_at.duration_since(now).unwrap_or_default().min(FRESH)
}
