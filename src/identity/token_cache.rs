//! Tokens that were verified a moment ago, so that a caller with one token pays once a minute for its signature.
//!
//! A key that its issuer withdraws is obeyed for that long. Not here: rights, which are looked up at each call.

use std::sync::Arc;

use moka::sync::Cache;

use crate::Principal;
use toolwire_base::digest::Digest;

/// Maximum number of tokens.
const MAX_TOKENS: u64 = 10_000;

/// What tokens prove, by the digests of the tokens.
#[derive(Debug)]
pub(crate) struct TokenCache(Cache<Digest, Arc<Principal>>);

impl Default for TokenCache {
    fn default() -> Self {
        Self(Cache::builder().max_capacity(MAX_TOKENS).build())
    }
}

impl TokenCache {
    /// Returns what the token of this digest proves, if it needs no verification yet.
    pub(crate) fn find(&self, token: &Digest) -> Option<Arc<Principal>> {
        let principal = self.0.get(token)?;
        if principal.is_fresh() {
            return Some(principal);
        }
        self.0.invalidate(token);
        None
    }

    pub(crate) fn insert(&self, token: Digest, principal: &Arc<Principal>) {
        self.0.insert(token, Arc::clone(principal));
    }
}
