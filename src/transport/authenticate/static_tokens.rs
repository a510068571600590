//! Bearer tokens from the configuration, each of one user. `x-toolwire-user` is ignored.
//!
//! Only SHA-256 digests are stored, and each presented token is compared with all of them in constant time, so that
//! neither memory nor timing reveals a token. For many users or expiring tokens, use JWT.

use std::fmt;

use futures_util::future::{Either, ready};
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};

use super::{Authenticating, AuthenticationError, Authenticator, Credentials};
use toolwire_tool::context::{KnownBy, User};

/// SHA-256 of a token.
#[derive(Clone)]
pub(super) struct TokenDigest([u8; 32]);

/// The configured tokens and their users.
#[derive(Clone)]
pub struct StaticTokens {
    users: Vec<(TokenDigest, User)>,
}

impl StaticTokens {
    pub fn new(tokens: impl IntoIterator<Item = (SecretString, User)>) -> Self {
        let digested = |(token, user): (SecretString, User)| {
            (TokenDigest::of(token.expose_secret().as_bytes()), user.with_known_by(KnownBy::Token))
        };
        Self { users: tokens.into_iter().map(digested).collect() }
    }

    fn identify(&self, credentials: Credentials<'_>) -> Result<User, AuthenticationError> {
        if credentials.authorization().is_none() {
            return Err(AuthenticationError::Missing);
        }
        let presented = TokenDigest::of(credentials.bearer().ok_or(AuthenticationError::Rejected)?);
        presented.owner(&self.users).cloned().ok_or(AuthenticationError::Rejected)
    }
}

impl TokenDigest {
    pub(super) fn of(token: &[u8]) -> Self {
        Self(Sha256::digest(token).into())
    }

    /// Compares with every digest, even after a match.
    pub(super) fn owner<'a, T>(&self, tokens: &'a [(Self, T)]) -> Option<&'a T> {
        let mut owner = None;
        for (known, holder) in tokens {
            if self.is_equal(known) {
                owner = Some(holder);
            }
        }
        owner
    }

    /// Compares without an early end.
    fn is_equal(&self, other: &Self) -> bool {
        self.0.iter().zip(other.0).fold(0, |difference, (left, right)| difference | (left ^ right)) == 0
    }
}

impl Authenticator for StaticTokens {
    fn authenticate<'a>(&'a self, credentials: Credentials<'a>) -> Authenticating<'a> {
        Either::Left(ready(self.identify(credentials)))
    }
}

impl fmt::Debug for StaticTokens {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("StaticTokens").field("tokens", &self.users.len()).finish_non_exhaustive()
    }
}
