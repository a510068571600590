//! The profile of a source: its constants for the layers of the stack, stated once by its connector.

use std::time::Duration;

use super::{Answer, Failure};
use crate::upstream::stack::{CredentialsOf, Subject};

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

impl Profile {
    /// Replaces a message about credentials if the source sees none.
    pub(super) fn reword(&self, failure: Failure) -> Failure {
        self.credentials.reword(failure, self.title)
    }

    /// The source, or a part of it.
    pub(super) fn subject(&self, part: Option<Part>) -> Subject {
        let name = part.map_or(self.name, |part| part.name);
        Subject {
            source: self.name.into(),
            name: name.into(),
            title: self.title.into(),
            credentials: self.credentials,
        }
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
