//! Iterates over the tools that one user sees, without a list of them.

use std::sync::Arc;

use tokio::sync::watch;

use super::Filter;
use toolwire_base::digest::Digest;
use toolwire_config::RuleTarget;
use toolwire_engine::{
    pipeline::Policy,
    registry::{RegisteredTool, Snapshot},
};
use toolwire_tool::context::User;

/// The tools of one moment that a user may call and that pass a filter, in order of name.
#[derive(Clone, Debug)]
pub struct Listing {
    snapshot: Arc<Snapshot>,
    visibility: Visibility,
    filter: Filter,
    next: usize,
}

/// The tools of which a user may know: those that the user may call.
#[derive(Clone, Debug)]
pub(super) struct Visibility {
    user: User,
    policy: Arc<dyn Policy>,
    /// The policy as it was at the beginning, or as it was looked up again.
    current: Arc<dyn Policy>,
    /// Whether that is all tools. Looked up once, not for each name.
    pub(super) is_whole: bool,
}

impl Listing {
    pub(super) fn new(snapshot: Arc<Snapshot>, visibility: Visibility, filter: Filter) -> Self {
        Self { snapshot, visibility, filter, next: 0 }
    }

    /// The next tool. Borrowed, since a reference count would cost as much as sending it.
    pub fn next_tool(&mut self) -> Option<&Arc<RegisteredTool>> {
        let tools = self.snapshot.tools().as_slice();
        let is_listed =
            |tool: &Arc<RegisteredTool>| self.visibility.sees(tool) && self.filter.passes(&tool.definition);
        let found = tools[self.next..].iter().position(is_listed)?;
        self.next += found + 1;
        tools.get(self.next - 1)
    }

    /// Whether it has every tool of its snapshot.
    pub(super) fn is_whole(&self) -> bool {
        self.visibility.is_whole && self.filter == Filter::default()
    }

    /// A tool of the same moment that the user may call, whether or not it passes the filter.
    pub(super) fn visible(&self, name: &str) -> Option<&Arc<RegisteredTool>> {
        self.snapshot.get(name).filter(|tool| self.visibility.sees(tool))
    }

    pub fn snapshot(&self) -> &Arc<Snapshot> {
        &self.snapshot
    }

    /// The key in a cache of `what` is made of this listing. `None` with a filter: such results are not cached.
    pub fn cache_key(&self, what: &str) -> Option<Digest> {
        if self.filter != Filter::default() {
            return None;
        }
        if self.visibility.is_whole {
            return Some(Digest::of_parts([what, "all"]));
        }
        let seen: Vec<_> = self.clone().map(|tool| tool.definition.name.to_string()).collect();
        Some(Digest::of_parts([what, "some"].into_iter().chain(seen.iter().map(String::as_str))))
    }
}

impl Iterator for Listing {
    type Item = Arc<RegisteredTool>;

    fn next(&mut self) -> Option<Arc<RegisteredTool>> {
        self.next_tool().cloned()
    }
}

impl Visibility {
    pub(super) fn new(user: User, policy: Arc<dyn Policy>) -> Self {
        let current = policy.current().unwrap_or_else(|| Arc::clone(&policy));
        let is_whole = current.may_call_all(&user);
        Self { user, policy, current, is_whole }
    }

    /// Looks the permissions up again, since the policy may have changed.
    pub(super) fn renew(&mut self) {
        *self = Self::new(self.user.clone(), Arc::clone(&self.policy));
    }

    /// Is notified when the permissions may have changed.
    pub(super) fn changes(&self) -> Option<watch::Receiver<u64>> {
        self.policy.changes()
    }

    pub(super) fn sees(&self, tool: &RegisteredTool) -> bool {
        // First: the name of a tool that is visible in any case need not be read.
        self.is_whole || self.may_call(tool.definition.rule_target())
    }

    pub(super) fn may_call(&self, tool: RuleTarget<'_>) -> bool {
        self.is_whole || self.current.may_call(&self.user, tool)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_that_allows_all_is_not_asked_tool_by_tool() {
        #[derive(Debug)]
        struct Whole;

        impl Policy for Whole {
            fn may_call(&self, _: &User, tool: RuleTarget<'_>) -> bool {
                panic!("{tool:?} was asked for")
            }

            fn may_call_all(&self, _: &User) -> bool {
                true
            }
        }

        let mut visibility = Visibility::new(User::new("all".parse().unwrap()), Arc::new(Whole));
        visibility.renew();
        assert!(visibility.may_call(RuleTarget::named("wind_up")));
    }
}
