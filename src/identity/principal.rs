//! What a verified token proves.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use tokio::time::Instant;

use toolwire_base::clock;
use toolwire_tool::context::{Grant, ToolsetName, UserId};

/// How long a token is not verified again.
const FRESH: Duration = Duration::from_mins(1);

/// The user that a token proves. Not here: the token itself, and what its user may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    pub user: UserId,
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
