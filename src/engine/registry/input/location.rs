//! Where a value stands among arguments. Not here: the spelling of keys, which is the caller's.

use crate::registry::problem::join;
use toolwire_contract::json::MAX_DEPTH;

/// The path to a value. Rarely needed, so it is rendered on demand.
#[derive(Clone, Copy)]
pub(super) enum Location<'a> {
    Top,
    Member(&'a Location<'a>, &'a str),
    Element(&'a Location<'a>, usize),
}

impl Location<'_> {
    pub(super) fn pointer(self) -> String {
        match self {
            Self::Top => String::new(),
            Self::Member(parent, key) => join(&parent.pointer(), key),
            Self::Element(parent, index) => join(&parent.pointer(), index),
        }
    }

    /// How many levels the value may have.
    pub(super) fn levels(self) -> usize {
        match self {
            Self::Top => MAX_DEPTH,
            Self::Member(parent, _) | Self::Element(parent, _) => parent.levels().saturating_sub(1),
        }
    }
}
