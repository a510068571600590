//! Authentication without credentials: every caller on the loopback interface is trusted, and may name its user.
//!
//! For development and for one person's machine. It refuses every peer that is not on the loopback interface, whatever
//! address the server listens on, and every request with a header of a proxy, since the client behind a proxy on this
//! machine may be remote. A proxy without such headers is indistinguishable from a local caller.

use std::net::SocketAddr;

use futures_util::future::{Either, ready};
use http::{HeaderMap, HeaderName, HeaderValue};

use super::{Authenticating, AuthenticationError, Authenticator, Credentials};
use toolwire_tool::context::{KnownBy, User};

const HEADER: &str = "x-toolwire-user";
const RULE: &str = "must be 1 to 128 visible ASCII characters, sent once";

#[derive(Debug, Clone)]
pub struct Loopback {
    default_user: User,
}

impl Loopback {
    /// Callers that name no user are `default_user`.
    pub fn new(default_user: User) -> Self {
        Self { default_user: default_user.with_known_by(KnownBy::Loopback) }
    }

    fn identify(&self, credentials: Credentials<'_>) -> Result<User, AuthenticationError> {
        check_local(credentials)?;
        let mut names = credentials.metadata.get_all(HEADER).iter();
        match (names.next(), names.next()) {
            (None, _) => Ok(self.default_user.clone()),
            (Some(name), None) => user_named(name),
            (Some(_), Some(_)) => Err(MALFORMED),
        }
    }
}

impl Authenticator for Loopback {
    fn authenticate<'a>(&'a self, credentials: Credentials<'a>) -> Authenticating<'a> {
        Either::Left(ready(self.identify(credentials)))
    }
}

/// Refuses what is not of this machine, or says that a proxy passed it on.
pub(super) fn check_local(credentials: Credentials<'_>) -> Result<(), AuthenticationError> {
    if !credentials.peer.is_some_and(is_loopback) {
        return Err(AuthenticationError::Rejected);
    }
    match proxy_header(credentials.metadata) {
        Some(header) => Err(AuthenticationError::Proxied { header: header.to_string() }),
        None => Ok(()),
    }
}

const MALFORMED: AuthenticationError = AuthenticationError::Malformed { header: HEADER, rule: RULE };

fn user_named(name: &HeaderValue) -> Result<User, AuthenticationError> {
    let id = name.to_str().map_err(|_| MALFORMED)?.parse().map_err(|_| MALFORMED)?;
    Ok(User::new(id).with_known_by(KnownBy::Loopback))
}

/// Finds a header that proxies add: RFC 7239, RFC 9110 §7.6.3, and the older `X-Forwarded-*`.
fn proxy_header(metadata: &HeaderMap) -> Option<&HeaderName> {
    let is_proxys = |name: &&HeaderName| {
        matches!(name.as_str(), "forwarded" | "via") || name.as_str().starts_with("x-forwarded-")
    };
    metadata.keys().find(is_proxys)
}

/// Accepts IPv4-mapped addresses too (`::ffff:127.0.0.1`).
fn is_loopback(peer: SocketAddr) -> bool {
    peer.ip().to_canonical().is_loopback()
}
