//! Tokens that were verified a moment ago, so that a caller with one token pays once a minute for its signature.
//!
//! A key that its issuer withdraws is obeyed for that long. Not here: rights, which are looked up at each call.

use std::sync::Arc;

use moka::sync::Cache;

use crate::verified::SharedVerified;
use toolwire_base::digest::Digest;

/// The most tokens that are remembered.
const MAX_TOKENS: u64 = 10_000;

/// Verified tokens, by their digests.
#[derive(Debug)]
pub(crate) struct Remembered(Cache<Digest, SharedVerified>);

impl Default for Remembered {
    fn default() -> Self {
        Self(Cache::builder().max_capacity(MAX_TOKENS).build())
    }
}

impl Remembered {
    /// Returns what the token of this digest proves, if that is known.
    pub(crate) fn find(&self, token: &Digest) -> Option<SharedVerified> {
        let verified = self.0.get(token)?;
        if verified.is_fresh() {
            return Some(verified);
        }
        self.0.invalidate(token);
        None
    }

    pub(crate) fn insert(&self, token: Digest, verified: &SharedVerified) {
        self.0.insert(token, Arc::clone(verified));
    }
}
