//! Who may call what, as the configuration says it.

use super::Policy;
use crate::{config::Auth, context::User};

/// Everybody may call everything: the mode without credentials, on loopback only.
#[derive(Clone, Copy, Debug)]
pub struct AllowAll;

impl Policy for AllowAll {
    fn may_call(&self, _user: &User, _tool: &str) -> bool {
        true
    }

    fn may_call_all(&self, _user: &User) -> bool {
        true
    }
}

/// Each user may call what one of the user's patterns names.
impl Policy for Auth {
    fn may_call(&self, user: &User, tool: &str) -> bool {
        self.users.iter().any(|entry| entry.user_id == user.id && entry.may_call(tool))
    }

    fn may_call_all(&self, user: &User) -> bool {
        self.users.iter().any(|entry| entry.user_id == user.id && entry.may_call_all())
    }
}
