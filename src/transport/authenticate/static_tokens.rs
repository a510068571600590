//! Bearer tokens from the configuration, each of one user. `x-toolwire-user` is ignored.
//!
//! Only SHA-256 digests are stored, and each presented token is compared with all of them in constant time, so that
//! neither memory nor timing reveals a token.

use std::fmt;

use futures_util::future::{Either, ready};

use super::{Authenticating, AuthenticationError, Authenticator, Credentials};
use crate::constant_time::is_equal;
use toolwire_config::TokenDigest;
use toolwire_tool::context::{KnownBy, User};

/// The configured tokens and their users.
#[derive(Clone)]
pub struct StaticTokens {
    users: Vec<(TokenDigest, User)>,
}

impl StaticTokens {
    pub fn new(tokens: impl IntoIterator<Item = (TokenDigest, User)>) -> Self {
        let known = |(token, user): (TokenDigest, User)| (token, user.with_known_by(KnownBy::Token));
        Self { users: tokens.into_iter().map(known).collect() }
    }

    /// Returns the user whose token has this digest.
    pub(super) fn owner(&self, presented: &TokenDigest) -> Option<&User> {
        owner(&self.users, presented)
    }

    fn identify(&self, credentials: Credentials<'_>) -> Result<User, AuthenticationError> {
        if credentials.authorization().is_none() {
            return Err(AuthenticationError::Missing);
        }
        let presented = TokenDigest::of(credentials.bearer().ok_or(AuthenticationError::Rejected)?);
        self.owner(&presented).cloned().ok_or(AuthenticationError::Rejected)
    }
}

/// Returns the holder of the presented token. It is compared with every known one, even after a match.
pub(super) fn owner<'a, T>(tokens: &'a [(TokenDigest, T)], presented: &TokenDigest) -> Option<&'a T> {
    let mut owner = None;
    for (known, holder) in tokens {
        if is_equal(known.as_bytes(), presented.as_bytes()) {
            owner = Some(holder);
        }
    }
    owner
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
