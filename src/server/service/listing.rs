//! Iterates over the tools that one user sees, without a list of them.

use std::sync::Arc;

use super::Filter;
use toolwire_base::digest::Digest;
use toolwire_engine::{
    pipeline::Policy,
    registry::{RegisteredTool, Snapshot},
};
use toolwire_tool::context::User;

/// The tools of one moment that a user may call and that pass a filter, in order of name.
#[derive(Clone, Debug)]
pub struct Listing {
    snapshot: Arc<Snapshot>,
    sight: Sight,
    filter: Filter,
    next: usize,
}

/// What a user may know of.
#[derive(Clone, Debug)]
pub(super) struct Sight {
    user: User,
    policy: Arc<dyn Policy>,
    /// Asked once for all names.
    is_whole: bool,
}

impl Listing {
    pub(super) fn new(snapshot: Arc<Snapshot>, sight: Sight, filter: Filter) -> Self {
        Self { snapshot, sight, filter, next: 0 }
    }

    /// The next tool, borrowed: to count who holds it costs as much as to send it.
    pub fn next_tool(&mut self) -> Option<&Arc<RegisteredTool>> {
        let tools = self.snapshot.tools().as_slice();
        let is_wanted =
            |tool: &Arc<RegisteredTool>| self.sight.sees(tool) && self.filter.passes(&tool.definition);
        let found = tools[self.next..].iter().position(is_wanted)?;
        self.next += found + 1;
        tools.get(self.next - 1)
    }

    /// Whether it is of all tools that there are.
    pub(super) fn is_whole(&self) -> bool {
        self.sight.is_whole && self.filter == Filter::default()
    }

    pub fn snapshot(&self) -> &Arc<Snapshot> {
        &self.snapshot
    }

    /// What an answer made of it is kept as, if it is of all that its user sees: `what` it is, and of which tools.
    pub fn cache_key(&self, what: &str) -> Option<Digest> {
        if self.filter != Filter::default() {
            return None;
        }
        if self.sight.is_whole {
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

impl Sight {
    pub(super) fn new(user: User, policy: Arc<dyn Policy>) -> Self {
        let is_whole = policy.may_call_all(&user);
        Self { user, policy, is_whole }
    }

    /// The same as it is now, if the policy has changed.
    pub(super) fn renew(&mut self) {
        self.is_whole = self.policy.may_call_all(&self.user);
    }

    pub(super) fn sees(&self, tool: &RegisteredTool) -> bool {
        // First, so that a tool which is seen in any case is not looked at.
        self.is_whole || self.may_call(&tool.definition.name)
    }

    pub(super) fn may_call(&self, tool: &str) -> bool {
        self.is_whole || self.policy.may_call(&self.user, tool)
    }
}
