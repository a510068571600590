//! Toolsets: the tools that a user may call, without those that the request or its token leaves out.
//!
//! A toolset gives no right: the policy below decides first. Not here: the calls that a tool makes, which nothing
//! narrows but rights.

use std::sync::Arc;

use super::super::Policy;
use toolwire_config::{RuleTarget, Toolsets};
use toolwire_tool::context::{ToolsetName, User, UserId};

/// What another policy allows, within the toolset that the request names and those to which its token is bound.
#[derive(Clone, Debug)]
pub struct ToolsetPolicy {
    rights: Arc<dyn Policy>,
    toolsets: Toolsets,
}

impl ToolsetPolicy {
    /// `rights` do not change.
    pub fn new(rights: Arc<dyn Policy>, toolsets: Toolsets) -> Self {
        Self { rights, toolsets }
    }

    /// Whether neither the request nor its token leaves the tool out.
    fn passes(&self, user: &User, tool: RuleTarget<'_>) -> bool {
        match (&user.toolset, user.bound_to.as_deref()) {
            (None, _) => self.is_for(user, tool),
            (Some(name), None) => self.has(name, tool),
            // A toolset that the token is not for has nothing for it.
            (Some(name), Some(bound_to)) => bound_to.contains(name) && self.has(name, tool),
        }
    }

    /// A toolset that is not configured has no tools, and a tool that is not offered no tags.
    fn has(&self, name: &ToolsetName, tool: RuleTarget<'_>) -> bool {
        self.toolsets.get(name).is_some_and(|toolset| toolset.has(tool.name, tool.tags()))
    }
}

impl Policy for ToolsetPolicy {
    fn may_call(&self, user: &User, tool: RuleTarget<'_>) -> bool {
        self.rights.may_call(user, tool) && self.passes(user, tool)
    }

    fn is_for(&self, user: &User, tool: RuleTarget<'_>) -> bool {
        user.bound_to.as_deref().is_none_or(|bound_to| bound_to.iter().any(|name| self.has(name, tool)))
    }

    fn scope_to_call(&self, user: &User, tool: RuleTarget<'_>) -> Option<String> {
        self.passes(user, tool).then(|| self.rights.scope_to_call(user, tool)).flatten()
    }

    fn may_call_all(&self, user: &User) -> bool {
        !user.is_narrowed() && self.rights.may_call_all(user)
    }

    fn knows(&self, user: &User) -> bool {
        self.rights.knows(user)
    }

    fn shut_out(&self) -> Vec<UserId> {
        self.rights.shut_out()
    }

    fn may_approve(&self, user: &User, tool: RuleTarget<'_>, caller: &UserId) -> bool {
        self.rights.may_approve(user, tool, caller) && self.is_for(user, tool)
    }

    fn sees_others(&self, user: &User) -> bool {
        self.rights.sees_others(user)
    }

    /// Observing is of all tools, and so not of a token for some.
    fn may_observe(&self, user: &User) -> bool {
        user.bound_to.is_none() && self.rights.may_observe(user)
    }

    fn may_read_records(&self, user: &User, tool: RuleTarget<'_>) -> bool {
        self.rights.may_read_records(user, tool) && self.is_for(user, tool)
    }
}

#[cfg(test)]
mod tests {
    use toolwire_config::{Flags, testing};

    use super::*;
    use crate::pipeline::policy::AllowAll;

    fn policy() -> ToolsetPolicy {
        let file = "[toolsets.shop]\ntools = ['shop_*']\n[toolsets.desk]\ntools = ['desk_*', 'shop_list']\n";
        let loaded = testing::load_text(file, &[], Flags::default(), &[]).unwrap();
        ToolsetPolicy::new(Arc::new(AllowAll), loaded.config.toolsets)
    }

    fn names(names: &[&str]) -> Arc<[ToolsetName]> {
        names.iter().map(|name| name.parse().unwrap()).collect()
    }

    /// Of `shop_list`, `shop_order`, `desk_open` and `get_quotes`, those that such a user may call.
    fn callable(toolset: Option<&str>, bound_to: Option<&[&str]>) -> Vec<&'static str> {
        let user = User {
            toolset: toolset.map(|name| name.parse().unwrap()),
            bound_to: bound_to.map(names),
            ..User::new("riley".parse().unwrap())
        };
        let may_call = |name: &&'static str| policy().may_call(&user, RuleTarget::named(name));
        ["shop_list", "shop_order", "desk_open", "get_quotes"].into_iter().filter(may_call).collect()
    }

    #[test]
    fn a_token_has_the_tools_of_its_toolsets_whatever_the_request_names() {
        assert_eq!(callable(None, Some(&["shop"])), ["shop_list", "shop_order"]);
        assert_eq!(callable(Some("shop"), Some(&["shop"])), ["shop_list", "shop_order"]);
        assert_eq!(callable(None, Some(&["shop", "desk"])), ["shop_list", "shop_order", "desk_open"]);
        assert_eq!(callable(Some("desk"), Some(&["shop", "desk"])), ["shop_list", "desk_open"]);
        // The other toolset has one of its tools, and is not what the token is for.
        assert_eq!(callable(Some("desk"), Some(&["shop"])), [""; 0]);
        assert_eq!(callable(None, Some(&[])), [""; 0]);
        assert_eq!(callable(None, Some(&["gone"])), [""; 0]);
        assert_eq!(callable(Some("gone"), None), [""; 0]);
        assert_eq!(callable(None, None).len(), 4);
    }

    #[test]
    fn a_bound_token_neither_approves_nor_reads_what_it_is_not_for() {
        let policy = policy();
        let riley = User::new("riley".parse().unwrap());
        let bound = User { bound_to: Some(names(&["shop"])), ..riley.clone() };
        let approves = |user: &User, tool| policy.may_approve(user, RuleTarget::named(tool), &user.id);
        assert!(approves(&bound, "shop_order") && !approves(&bound, "desk_open"));
        // A request that narrows itself takes no right.
        let narrowed = riley.with_toolset(Some("shop".parse().unwrap()));
        assert!(approves(&narrowed, "desk_open"));
        assert!(!policy.may_call_all(&bound) && !policy.may_call_all(&narrowed));
    }

    #[test]
    fn a_bound_token_observes_nothing() {
        let file = "[[auth.users]]\nuser_id = 'riley'\ntoken = 'a-long-enough-t0ken'\nobserve = true\n";
        let loaded = testing::load_text(file, &[], Flags::default(), &[]).unwrap();
        let policy = ToolsetPolicy::new(Arc::new(loaded.config.auth), Toolsets::default());
        let riley = User::new("riley".parse().unwrap());
        let bound = User { bound_to: Some(names(&["shop"])), ..riley.clone() };
        let narrowed = riley.clone().with_toolset(Some("shop".parse().unwrap()));
        assert!(policy.may_observe(&riley) && policy.may_observe(&narrowed) && !policy.may_observe(&bound));
    }
}
