//! No credentials: whoever reaches the loopback interface is trusted, and may name the user it acts for.
//!
//! For development and for one person's machine. It refuses every peer that is not on the loopback interface, whatever
//! address the server was made to listen on.

use std::net::SocketAddr;

use futures_util::future::{BoxFuture, ready};
use http::HeaderValue;

use super::{AuthenticationError, Authenticator, Credentials, User};

const HEADER: &str = "x-toolwire-user";
const RULE: &str = "must be 1 to 128 visible ASCII characters, sent once";
const MAX_LENGTH: usize = 128;

/// Trusts the loopback interface.
#[derive(Debug, Clone)]
pub struct Loopback {
    default_user: User,
}

/// The default user's id breaks the rule that holds for `x-toolwire-user`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the default user's id {RULE}")]
pub struct InvalidUser;

impl Loopback {
    /// Takes callers that name no user for the user called `default_user`.
    pub fn new(default_user: &str) -> Result<Self, InvalidUser> {
        let default_user = user(default_user.as_bytes()).ok_or(InvalidUser)?;
        Ok(Self { default_user })
    }

    fn identify(&self, credentials: Credentials<'_>) -> Result<User, AuthenticationError> {
        if !credentials.peer.is_some_and(is_loopback) {
            return Err(AuthenticationError::Rejected);
        }
        let mut names = credentials.metadata.get_all(HEADER).iter();
        match (names.next(), names.next()) {
            (None, _) => Ok(self.default_user.clone()),
            (Some(name), None) => named(name),
            (Some(_), Some(_)) => Err(MALFORMED),
        }
    }
}

impl Authenticator for Loopback {
    fn authenticate<'a>(
        &'a self,
        credentials: Credentials<'a>,
    ) -> BoxFuture<'a, Result<User, AuthenticationError>> {
        Box::pin(ready(self.identify(credentials)))
    }
}

const MALFORMED: AuthenticationError = AuthenticationError::Malformed { header: HEADER, rule: RULE };

fn named(name: &HeaderValue) -> Result<User, AuthenticationError> {
    user(name.as_bytes()).ok_or(MALFORMED)
}

/// The user with this id, if it is 1 to 128 visible ASCII characters.
fn user(id: &[u8]) -> Option<User> {
    let valid = (1..=MAX_LENGTH).contains(&id.len()) && id.iter().all(u8::is_ascii_graphic);
    let id = std::str::from_utf8(id).ok().filter(|_| valid)?;
    Some(User { id: id.to_owned(), email: None, role: None })
}

/// Also as an IPv4 address in IPv6 clothes (`::ffff:127.0.0.1`).
fn is_loopback(peer: SocketAddr) -> bool {
    peer.ip().to_canonical().is_loopback()
}
