//! Bearer tokens from the configuration, each belonging to one user. `x-toolwire-user` is not looked at.
//!
//! Only SHA-256 digests are kept, and all of them are compared, in constant time: neither memory nor timing tells a
//! token. For many users or for tokens that expire, JWT is the right tool.

use std::fmt;

use futures_util::future::{BoxFuture, ready};
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};

use super::{AuthenticationError, Authenticator, Credentials};
use toolwire_tool::context::{KnownBy, User};

type TokenDigest = [u8; 32];

/// Known tokens and whose they are.
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

    /// Looks at every digest, whichever fits.
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

/// Compares without an early end.
fn is_equal(left: &TokenDigest, right: &TokenDigest) -> bool {
    left.iter().zip(right).fold(0, |difference, (left, right)| difference | (left ^ right)) == 0
}
