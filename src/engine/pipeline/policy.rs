//! The policies: all users without credentials, or the users that the configuration lists.

use super::Policy;
use toolwire_config::{Auth, AuthUser};
use toolwire_tool::context::{User, UserId};

/// Allows every call: the mode without credentials, on loopback only.
#[derive(Clone, Copy, Debug)]
pub struct AllowAll;

impl Policy for AllowAll {
    fn may_call(&self, _user: &User, _tool: &str) -> bool {
        true
    }

    fn may_call_all(&self, _user: &User) -> bool {
        true
    }

    /// Only on the user's own calls: without credentials any caller can claim any user, and could otherwise decide for
    /// all.
    fn may_approve(&self, user: &User, _tool: &str, caller: &UserId) -> bool {
        user.id == *caller
    }
}

/// Allows each user the tools that match one of the user's patterns.
impl Policy for Auth {
    fn may_call(&self, user: &User, tool: &str) -> bool {
        entries(self, user).any(|entry| entry.may_call(tool))
    }

    fn may_approve(&self, user: &User, tool: &str, _caller: &UserId) -> bool {
        entries(self, user).any(|entry| entry.may_approve(tool))
    }

    fn sees_others(&self, user: &User) -> bool {
        entries(self, user).any(|entry| entry.observe || !entry.approve.is_empty())
    }

    fn may_observe(&self, user: &User) -> bool {
        entries(self, user).any(|entry| entry.observe)
    }

    fn may_call_all(&self, user: &User) -> bool {
        entries(self, user).any(AuthUser::may_call_all)
    }
}

fn entries<'a>(auth: &'a Auth, user: &'a User) -> impl Iterator<Item = &'a AuthUser> {
    auth.users.iter().filter(|entry| entry.user_id == user.id)
}
