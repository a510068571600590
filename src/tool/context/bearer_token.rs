//! The token of a caller, shared rather than copied.

use std::fmt;

use http::HeaderValue;

/// The bearer token that a caller presented, for tools that act on the caller's behalf elsewhere.
#[derive(Clone)]
pub struct BearerToken {
    // The whole header, whose clones share its bytes: every call has a token, and few read it.
    header: HeaderValue,
}

impl BearerToken {
    /// The token of an `authorization` header, if that is `Bearer …`.
    pub fn new(authorization: &HeaderValue) -> Option<Self> {
        Self::within(authorization).map(|_| Self { header: authorization.clone() })
    }

    /// The bytes of the token of such a header.
    pub fn within(authorization: &HeaderValue) -> Option<&[u8]> {
        let (scheme, token) = authorization.as_bytes().split_at_checked(b"Bearer ".len())?;
        scheme.eq_ignore_ascii_case(b"Bearer ").then_some(token)
    }

    /// The secret itself.
    pub fn expose(&self) -> &[u8] {
        Self::within(&self.header).unwrap_or_default()
    }
}

impl fmt::Debug for BearerToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BearerToken").finish_non_exhaustive()
    }
}
