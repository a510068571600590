//! Toolsets: the tools that a user may call, without those that the request leaves out.
//!
//! A toolset gives no right: the policy below decides first. Not here: the calls that a tool makes, which the request
//! does not narrow.

use std::sync::Arc;

use tokio::sync::watch;

use super::super::Policy;
use toolwire_config::{RuleTarget, Toolset, Toolsets};
use toolwire_tool::context::{User, UserId};

/// What another policy allows, within the toolset that the request names.
#[derive(Clone, Debug)]
pub struct ToolsetPolicy {
    rights: Arc<dyn Policy>,
    toolsets: Toolsets,
}

impl ToolsetPolicy {
    pub fn new(rights: Arc<dyn Policy>, toolsets: Toolsets) -> Self {
        Self { rights, toolsets }
    }

    /// Whether the request leaves nothing out, or its toolset has what `has` looks for. One that is not configured has
    /// no tools.
    fn passes(&self, user: &User, has: impl FnOnce(&Toolset) -> bool) -> bool {
        user.toolset.as_ref().is_none_or(|name| self.toolsets.get(name).is_some_and(has))
    }
}

/// Whether a toolset has the tool. One that is not offered has no tags.
fn has(toolset: &Toolset, tool: RuleTarget<'_>) -> bool {
    toolset.has(tool.name, tool.facts.map_or(&[][..], |facts| facts.tags))
}

impl Policy for ToolsetPolicy {
    fn may_call(&self, user: &User, tool: RuleTarget<'_>) -> bool {
        self.rights.may_call(user, tool) && self.passes(user, |toolset| has(toolset, tool))
    }

    fn scope_to_call(&self, user: &User, tool: RuleTarget<'_>) -> Option<String> {
        self.passes(user, |toolset| has(toolset, tool))
            .then(|| self.rights.scope_to_call(user, tool))
            .flatten()
    }

    fn may_call_all(&self, user: &User) -> bool {
        user.toolset.is_none() && self.rights.may_call_all(user)
    }

    fn knows(&self, user: &User) -> bool {
        self.rights.knows(user)
    }

    fn may_approve(&self, user: &User, tool: RuleTarget<'_>, caller: &UserId) -> bool {
        self.rights.may_approve(user, tool, caller)
    }

    fn sees_others(&self, user: &User) -> bool {
        self.rights.sees_others(user)
    }

    fn may_observe(&self, user: &User) -> bool {
        self.rights.may_observe(user)
    }

    fn may_read_records(&self, user: &User, tool: RuleTarget<'_>) -> bool {
        self.rights.may_read_records(user, tool)
    }

    fn current(&self) -> Option<Arc<dyn Policy>> {
        let rights = self.rights.current()?;
        Some(Arc::new(Self { rights, toolsets: self.toolsets.clone() }))
    }

    fn changes(&self) -> Option<watch::Receiver<u64>> {
        self.rights.changes()
    }
}
