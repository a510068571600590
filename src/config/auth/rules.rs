//! What users may: `[[auth.rules]]`, by user, group or workload and by tools. A rule that denies wins over all that
//! allow.
//!
//! Not here: rights of a user's own entry in `[[auth.users]]`.

mod read;

use super::{
    RuleTarget, ToolCategory,
    who::{Who, is_peer},
};
use crate::{Consequence, ToolPattern, Toolset};
use toolwire_identity::SpiffePattern;
use toolwire_tool::context::User;

/// What some users may do, or may not, with some tools.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Where it stands, such as `toolwire.toml:12: auth.rules.0`.
    pub at: String,
    pub who: Vec<Who>,
    pub tools: Vec<ToolPattern>,
    /// The tags of which a tool must have one; empty if that does not matter.
    pub tags: Vec<String>,
    /// The categories of which a tool must be one; empty if that does not matter.
    pub category: Vec<ToolCategory>,
    pub consequence_at_most: Option<Consequence>,
    /// The toolsets of which a tool must be in one; empty if that does not matter.
    pub toolsets: Vec<Toolset>,
    /// The scope that the token must have for an allowing rule to hold.
    pub scope: Option<String>,
    /// The workloads by whose certificate a request must have come for an allowing rule to hold; empty if that does
    /// not matter.
    pub via: Vec<SpiffePattern>,
    pub denies: bool,
    pub may: Vec<Right>,
}

/// What a user may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum Right {
    /// Calling the tools.
    Call,
    /// Deciding on calls of the tools.
    Approve,
    /// Seeing all users' confirmations and calls.
    Observe,
    /// Reading the arguments and results of other users' calls where those are seen.
    ReadRecords,
}

impl Right {
    pub const ALL: [Self; 4] = [Self::Call, Self::Approve, Self::Observe, Self::ReadRecords];
}

impl Rule {
    /// Whether the rule says anything of this right of the user.
    pub(super) fn is_of(&self, user: &User, right: Right) -> bool {
        self.may.contains(&right) && self.is_for(user)
    }

    /// Whether the rule says anything of this right of the user, whatever scopes the token has.
    pub(super) fn names(&self, user: &User, right: Right) -> bool {
        self.may.contains(&right) && self.means(user)
    }

    /// Whether the rule is for the user, with the scopes that the token has and the peer that the certificate proves.
    pub(super) fn is_for(&self, user: &User) -> bool {
        let has_scope = |scope| user.grant.as_deref().is_some_and(|grant| grant.scopes.contains(scope));
        self.means(user) && self.scope.as_ref().is_none_or(has_scope)
    }

    fn means(&self, user: &User) -> bool {
        let came_via = self.via.is_empty() || self.via.iter().any(|workloads| is_peer(user, workloads));
        came_via && self.who.iter().any(|who| who.means(user))
    }

    /// Whether the tool is one of those that the rule is about. Of a tool that is not offered nothing is known but its
    /// name: a rule by other things allows nothing of it, and denies it, so that a refusal does not tell whether
    /// there is such a tool.
    pub(super) fn covers(&self, tool: RuleTarget<'_>) -> bool {
        let is_named = self.tools.iter().any(|pattern| pattern.matches(tool.name));
        let is_meant = || match tool.facts {
            None => self.denies,
            Some(facts) => {
                (self.tags.is_empty() || self.tags.iter().any(|tag| facts.tags.contains(tag)))
                    && (self.category.is_empty() || self.category.contains(&facts.category))
                    && self.consequence_at_most.is_none_or(|most| facts.consequence <= most)
            }
        };
        is_named && self.has_in_toolset(tool) && (!self.is_by_facts() || is_meant())
    }

    pub(super) fn covers_all(&self) -> bool {
        let is_everything = self.tools.iter().any(ToolPattern::is_everything);
        is_everything && self.toolsets.is_empty() && !self.is_by_facts()
    }

    /// Whether nothing is left to those whom the rule is for: it takes every right to every tool.
    pub(super) fn shuts_out(&self) -> bool {
        self.denies && self.covers_all() && Right::ALL.iter().all(|right| self.may.contains(right))
    }

    /// Whether more than the name of a tool matters.
    pub fn is_conditional(&self) -> bool {
        self.is_by_facts() || self.toolsets.iter().any(|toolset| !toolset.tags.is_empty())
    }

    /// Whether the tool is in one of the toolsets, if that matters. One that is not offered may have the tag of one.
    fn has_in_toolset(&self, tool: RuleTarget<'_>) -> bool {
        let may_have_tag = self.denies && tool.facts.is_none();
        let has = |it: &Toolset| it.has(tool.name, tool.tags()) || (may_have_tag && !it.tags.is_empty());
        self.toolsets.is_empty() || self.toolsets.iter().any(has)
    }

    fn is_by_facts(&self) -> bool {
        !self.tags.is_empty() || !self.category.is_empty() || self.consequence_at_most.is_some()
    }
}
