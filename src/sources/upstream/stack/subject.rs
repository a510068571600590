//! A source, or a part of one, as the subject of cool-downs and hold-offs.

use std::borrow::Cow;

use crate::upstream::failure::{Failure, FailureKind};

/// A source, or a part of one.
#[derive(Clone, Debug)]
pub(in crate::upstream) struct Subject {
    /// The source, whose limits hold.
    pub(in crate::upstream) source: Cow<'static, str>,
    /// The name under which its refusals are kept: that of the source, or of a part of it.
    pub(in crate::upstream) name: Cow<'static, str>,
    /// Its name for people.
    pub(in crate::upstream) title: Cow<'static, str>,
    pub(in crate::upstream) credentials: CredentialsOf,
}

/// Which credentials a source sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CredentialsOf {
    /// It sees none, so that a refusal says nothing about any.
    None,
    /// The service's own: a refusal concerns all users.
    Service,
    /// The user's: a refusal concerns that user.
    User,
    /// The user's, who can give others: a refusal concerns those that were refused, and the connector remembers which.
    Login,
}

impl CredentialsOf {
    /// Replaces a message about credentials if the source sees none.
    pub(in crate::upstream) fn reword(self, failure: Failure, title: &str) -> Failure {
        if failure.kind == FailureKind::AuthFailed && self == Self::None && failure.message.is_none() {
            return failure.with_message(format!("{title} refuses access."));
        }
        failure
    }
}
