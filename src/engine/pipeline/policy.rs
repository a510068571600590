//! The policies: all users without credentials, or the users that the configuration lists; and either within the
//! toolsets that a request names and its token is for.

mod toolset_policy;

pub use self::toolset_policy::ToolsetPolicy;
use super::Policy;
use toolwire_config::{Auth, Right, RuleTarget, Who};
use toolwire_tool::context::{User, UserId};

/// Allows every call: the mode without credentials, on loopback only.
#[derive(Clone, Copy, Debug)]
pub struct AllowAll;

impl Policy for AllowAll {
    fn may_call(&self, _user: &User, _tool: RuleTarget<'_>) -> bool {
        true
    }

    fn may_call_all(&self, _user: &User) -> bool {
        true
    }

    /// Only on the user's own calls: without credentials any caller can claim any user, and could otherwise decide for
    /// all.
    fn may_approve(&self, user: &User, _tool: RuleTarget<'_>, caller: &UserId) -> bool {
        user.id == *caller
    }
}

/// Allows each user what the entries of `[[auth.users]]` and `[[auth.rules]]` say.
impl Policy for Auth {
    fn may_call(&self, user: &User, tool: RuleTarget<'_>) -> bool {
        self.may(user, Right::Call, tool)
    }

    fn scope_to_call(&self, user: &User, tool: RuleTarget<'_>) -> Option<String> {
        Self::scope_to_call(self, user, tool)
    }

    fn may_approve(&self, user: &User, tool: RuleTarget<'_>, _caller: &UserId) -> bool {
        self.may(user, Right::Approve, tool)
    }

    fn sees_others(&self, user: &User) -> bool {
        self.may_some(user, Right::Observe) || self.may_some(user, Right::Approve)
    }

    fn may_observe(&self, user: &User) -> bool {
        self.may_some(user, Right::Observe)
    }

    fn may_read_records(&self, user: &User, tool: RuleTarget<'_>) -> bool {
        self.may(user, Right::ReadRecords, tool)
    }

    fn may_call_all(&self, user: &User) -> bool {
        Self::may_call_all(self, user)
    }

    fn knows(&self, user: &User) -> bool {
        Self::knows(self, user)
    }

    fn shut_out(&self) -> Vec<UserId> {
        let id = |who: &Who| match who {
            Who::User(id) => id.parse::<UserId>().ok(),
            // A confirmation does not say of which group its user is.
            Who::Group(_) | Who::Workload(_) => None,
        };
        Self::shut_out(self).filter_map(id).collect()
    }
}
