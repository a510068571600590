//! No credentials: whoever reaches the loopback interface is trusted, and may name the user it acts for.
//!
//! For development and for one person's machine. It refuses every peer that is not on the loopback interface, whatever
//! address the server was made to listen on, and every request that a proxy on this machine says it passed on: behind
//! the proxy may be anybody. A proxy that says nothing looks like a local caller.

use std::net::SocketAddr;

use futures_util::future::{BoxFuture, ready};
use http::{HeaderMap, HeaderName, HeaderValue};

use super::{AuthenticationError, Authenticator, Credentials};
use toolwire_tool::context::{KnownBy, User};

const HEADER: &str = "x-toolwire-user";
const RULE: &str = "must be 1 to 128 visible ASCII characters, sent once";

/// Trusts the loopback interface.
#[derive(Debug, Clone)]
pub struct Loopback {
    default_user: User,
}

impl Loopback {
    /// Takes callers that name no user for `default_user`.
    pub fn new(default_user: User) -> Self {
        Self { default_user: default_user.with_known_by(KnownBy::Loopback) }
    }

    fn identify(&self, credentials: Credentials<'_>) -> Result<User, AuthenticationError> {
        if !credentials.peer.is_some_and(is_loopback) {
            return Err(AuthenticationError::Rejected);
        }
        if let Some(header) = proxy_header(credentials.metadata) {
            return Err(AuthenticationError::Proxied { header: header.to_string() });
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
    let id = name.to_str().map_err(|_| MALFORMED)?.parse().map_err(|_| MALFORMED)?;
    Ok(User::new(id).with_known_by(KnownBy::Loopback))
}

/// A header by which a proxy says that it passed the request on: RFC 7239, RFC 9110 §7.6.3, and the older custom.
fn proxy_header(metadata: &HeaderMap) -> Option<&HeaderName> {
    let is_proxys = |name: &&HeaderName| {
        matches!(name.as_str(), "forwarded" | "via") || name.as_str().starts_with("x-forwarded-")
    };
    metadata.keys().find(is_proxys)
}

/// Also an IPv4-mapped address (`::ffff:127.0.0.1`).
fn is_loopback(peer: SocketAddr) -> bool {
    peer.ip().to_canonical().is_loopback()
}
