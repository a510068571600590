//! The authenticated user. Comes from verified credentials only, never from what a call claims.

use super::UserId;

/// Who calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// The user; part of every cache, limit and idempotency key.
    pub id: UserId,
    /// E-mail address, if the credentials carry one.
    pub email: Option<String>,
    /// Role, if the credentials carry one.
    pub role: Option<String>,
    /// How it is known who this is.
    pub known_by: KnownBy,
}

/// How it is known who somebody is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum KnownBy {
    /// Whoever started this program says so.
    Process,
    /// A caller on this machine says so, where nobody needs credentials.
    Loopback,
    /// A bearer token.
    Token,
}

impl User {
    /// A user without e-mail address and role, as this program names one.
    pub fn new(id: UserId) -> Self {
        Self { id, email: None, role: None, known_by: KnownBy::Process }
    }

    /// The same user, known so.
    #[must_use]
    pub fn known_by(self, known_by: KnownBy) -> Self {
        Self { known_by, ..self }
    }
}
