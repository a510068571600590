//! Who may call what, as the configuration says it.

use super::Policy;
use toolwire_config::{Auth, AuthUser};
use toolwire_tool::context::{User, UserId};

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

    /// Only on one's own: whoever can name a user could otherwise decide for everybody.
    fn may_approve(&self, user: &User, _tool: &str, caller: &UserId) -> bool {
        user.id == *caller
    }
}

/// Each user may call what one of the user's patterns names.
impl Policy for Auth {
    fn may_call(&self, user: &User, tool: &str) -> bool {
        of(self, user).any(|entry| entry.may_call(tool))
    }

    fn may_approve(&self, user: &User, tool: &str, _caller: &UserId) -> bool {
        of(self, user).any(|entry| entry.may_approve(tool))
    }

    fn sees_others(&self, user: &User) -> bool {
        of(self, user).any(|entry| entry.observe || !entry.approve.is_empty())
    }

    fn may_observe(&self, user: &User) -> bool {
        of(self, user).any(|entry| entry.observe)
    }

    fn may_call_all(&self, user: &User) -> bool {
        of(self, user).any(AuthUser::may_call_all)
    }
}

fn of<'a>(auth: &'a Auth, user: &'a User) -> impl Iterator<Item = &'a AuthUser> {
    auth.users.iter().filter(|entry| entry.user_id == user.id)
}
