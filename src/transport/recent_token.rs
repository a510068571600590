//! The token of an issuer or a trust domain that a connection presented last, and what it proves: a client with one
//! token then pays for its comparison and not for its digest.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use super::constant_time::is_equal;
use toolwire_identity::Principal;

/// The last token of a connection, for as long as it needs no verification.
#[derive(Default)]
pub(crate) struct RecentToken(Mutex<Option<Last>>);

struct Last {
    token: Box<[u8]>,
    principal: Arc<Principal>,
    /// By which reading of the settings it was verified.
    generation: u64,
}

impl RecentToken {
    /// Returns what the token proves, if it was the last one and was verified by the same settings.
    pub(crate) fn find(&self, token: &[u8], generation: u64) -> Option<Arc<Principal>> {
        let last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let last =
            last.as_ref().filter(|last| last.generation == generation && is_equal(&last.token, token))?;
        last.principal.is_fresh().then(|| Arc::clone(&last.principal))
    }

    pub(crate) fn replace(&self, token: &[u8], principal: &Arc<Principal>, generation: u64) {
        let last = Last { token: token.into(), principal: Arc::clone(principal), generation };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(last);
    }
}

/// The token is a secret.
impl fmt::Debug for RecentToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecentToken").finish_non_exhaustive()
    }
}
