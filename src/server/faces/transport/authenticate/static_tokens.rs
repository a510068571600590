//! Bearer tokens from the configuration, each of one user. `x-toolwire-user` is ignored.
//!
//! Only SHA-256 digests are stored, and each presented token is compared with all of them in constant time, so that
//! neither memory nor timing reveals a token. For many users or expiring tokens, use JWT.

use std::fmt;

use futures_util::future::{BoxFuture, ready};
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};

use super::{AuthenticationError, Authenticator, Credentials};
use toolwire_tool::context::{KnownBy, User};

type TokenDigest = [u8; 32];

/// The configured tokens and their users.
#[derive(Clone)]
pub struct StaticTokens {
    users: Vec<(TokenDigest, User)>,
}

impl StaticTokens {
    pub fn new(tokens: impl IntoIterator<Item = (SecretString, User)>) -> Self {
        let digested = |(token, user): (SecretString, User)| {
            (digest(token.expose_secret().as_bytes()), user.with_known_by(KnownBy::Token))
        };
        Self { users: tokens.into_iter().map(digested).collect() }
    }

    fn identify(&self, credentials: Credentials<'_>) -> Result<User, AuthenticationError> {
        if credentials.authorization().is_none() {
            return Err(AuthenticationError::Missing);
        }
        let presented = digest(credentials.bearer().ok_or(AuthenticationError::Rejected)?);
        self.owner(&presented).cloned().ok_or(AuthenticationError::Rejected)
    }

    /// Compares with every digest, even after a match.
    fn owner(&self, presented: &TokenDigest) -> Option<&User> {
        let mut owner = None;
        for (known, user) in &self.users {
            if is_equal(known, presented) {
                owner = Some(user);
            }
        }
        owner
    }
}

impl Authenticator for StaticTokens {
    fn authenticate<'a>(
        &'a self,
        credentials: Credentials<'a>,
    ) -> BoxFuture<'a, Result<User, AuthenticationError>> {
        Box::pin(ready(self.identify(credentials)))
    }
}

impl fmt::Debug for StaticTokens {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("StaticTokens").field("tokens", &self.users.len()).finish_non_exhaustive()
    }
}

fn digest(token: &[u8]) -> TokenDigest {
    Sha256::digest(token).into()
}

/// Compares in constant time.
fn is_equal(left: &TokenDigest, right: &TokenDigest) -> bool {
    left.iter().zip(right).fold(0, |difference, (left, right)| difference | (left ^ right)) == 0
}
