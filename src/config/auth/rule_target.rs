//! A tool as rules see it: its name, and what its manifest or its provider says of it.

use crate::Consequence;

/// A tool that a right is asked for.
#[derive(Clone, Copy, Debug)]
pub struct RuleTarget<'a> {
    pub name: &'a str,
    /// `None` of one that is not offered, of which nothing but the name is known.
    pub facts: Option<TargetFacts<'a>>,
}

/// What is said of a tool.
#[derive(Clone, Copy, Debug)]
pub struct TargetFacts<'a> {
    pub tags: &'a [String],
    pub category: ToolCategory,
    pub consequence: Consequence,
}

/// What a call may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum ToolCategory {
    Read,
    Write,
    Delete,
    SideEffect,
}

impl<'a> RuleTarget<'a> {
    /// A tool of which only the name is known.
    pub fn named(name: &'a str) -> Self {
        Self { name, facts: None }
    }

    /// The tags of the tool, as far as they are known.
    pub fn tags(&self) -> &'a [String] {
        self.facts.map_or(&[][..], |facts| facts.tags)
    }
}
