//! What the layers of the stack know of their source. Each connector states it once.

use std::time::Duration;

use super::{Answer, Failure};

/// What the stack must know of a source.
#[derive(Clone, Copy, Debug)]
pub struct Profile {
    /// Its name in manifests, limits, metrics and configuration, such as `forum`.
    pub name: &'static str,
    /// Its name for people, such as `The Forum`.
    pub title: &'static str,
    /// The bound on one attempt.
    pub timeout: Duration,
    /// The bound on one body, in bytes.
    pub max_body: usize,
    /// Whether failures may be retried at all.
    pub may_retry: bool,
    /// Whom a refusal of credentials concerns.
    pub credentials: CredentialsOf,
    /// What only this source's answers say, looked at before the common rules. `None` leaves it to those.
    pub check: fn(&Answer) -> Option<Failure>,
}

/// Whose credentials a source sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CredentialsOf {
    /// The service's own, or none: a refusal concerns all users.
    Service,
    /// The user's: a refusal concerns that user.
    User,
    /// The user's, who can give others: a refusal concerns those that were refused, and the connector remembers which.
    Login,
}
