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
}

impl User {
    /// A user without e-mail address and role.
    pub fn new(id: UserId) -> Self {
        Self { id, email: None, role: None }
    }
}
