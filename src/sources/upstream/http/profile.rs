//! The profile of a source: its constants for the layers of the stack, stated once by its connector.

use std::time::Duration;

use super::{Answer, Failure, FailureKind};

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
    /// Which callers a refusal of credentials concerns.
    pub credentials: CredentialsOf,
    /// What only this source's answers say, looked at before the common rules. `None` leaves it to those.
    pub check: fn(&Answer) -> Option<Failure>,
}

/// Which credentials a source sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CredentialsOf {
    /// There are none, so that a refusal says nothing about any.
    Nobody,
    /// The service's own: a refusal concerns all users.
    Service,
    /// The user's: a refusal concerns that user.
    User,
    /// The user's, who can give others: a refusal concerns those that were refused, and the connector remembers which.
    Login,
}

impl Profile {
    /// Replaces a message about credentials if the source sees none.
    pub(super) fn reword(&self, failure: Failure) -> Failure {
        let is_without = self.credentials == CredentialsOf::Nobody;
        if failure.kind == FailureKind::AuthFailed && is_without && failure.message.is_none() {
            return failure.saying(format!("{} refuses us access. Stop and tell the user.", self.title));
        }
        failure
    }
}

/// A part of a source that refuses us, or asks for a pause, for itself alone: one of several hosts, or what needs a
/// token that the rest does not. The rest goes on; the limits are those of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// `<source>/<part>`, such as `news/gazette`.
    pub name: &'static str,
    /// Its name for people, such as `The Gazette`.
    pub title: &'static str,
}
