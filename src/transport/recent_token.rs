//! The accepted token that a connection presented last, and what it proves: a client with one token then pays for its
//! comparison and not for its digest.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use super::constant_time::is_equal;
use toolwire_config::TokenDigest;
use toolwire_identity::Principal;

/// The last token of a connection, for as long as it needs no verification.
#[derive(Default)]
pub(crate) struct RecentToken(Mutex<Option<Last>>);

/// What a token proves.
#[derive(Clone)]
pub(crate) enum Proof {
    /// That of an issuer or a trust domain.
    Issued(Arc<Principal>),
    /// Its digest is that of a configured token, which is looked up at each call.
    Configured(TokenDigest),
}

struct Last {
    token: Box<[u8]>,
    proof: Proof,
    /// By which reading of the settings it was verified.
    generation: u64,
}

impl RecentToken {
    /// Returns what the token proves, if it was the last one and was verified by the same settings.
    pub(crate) fn find(&self, token: &[u8], generation: u64) -> Option<Proof> {
        let last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let last =
            last.as_ref().filter(|last| last.generation == generation && is_equal(&last.token, token))?;
        last.proof.is_fresh().then(|| last.proof.clone())
    }

    pub(crate) fn replace(&self, token: &[u8], proof: Proof, generation: u64) {
        let last = Last { token: token.into(), proof, generation };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(last);
    }
}

impl Proof {
    fn is_fresh(&self) -> bool {
        match self {
            Self::Issued(principal) => principal.is_fresh(),
            Self::Configured(_) => true,
        }
    }
}

/// The token is a secret.
impl fmt::Debug for RecentToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecentToken").finish_non_exhaustive()
    }
}
